// Before the first paint, so that a dark page never flashes white; see src/lib/theme.svelte.ts.
try {
  const chosen = localStorage.getItem("cutaway.theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing follows the system.
}
