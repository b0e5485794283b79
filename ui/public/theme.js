// Before the first paint, so that a dark page never flashes white; see src/lib/theme.svelte.ts.
let theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
try {
  const chosen = localStorage.getItem("cutaway.theme");
  if (chosen === "dark" || chosen === "light") theme = chosen;
} catch {
  // A browser that keeps nothing follows the system.
}
document.documentElement.dataset.theme = theme;
