// The theme: what the person chose, else what the system says. Sets data-theme on <html>, which app.css reads.

export type Theme = "light" | "dark";
const KEY = "cutaway.theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

class ThemeState {
  current = $state<Theme>("light");

  constructor() {
    this.apply(this.chosen() ?? this.ofSystem());
    system.addEventListener("change", () => {
      if (!this.chosen()) this.apply(this.ofSystem());
    });
  }

  toggle(): void {
    const next: Theme = this.current === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Kept for this visit only.
    }
    this.apply(next);
  }

  private chosen(): Theme | null {
    try {
      const kept = localStorage.getItem(KEY);
      return kept === "dark" || kept === "light" ? kept : null;
    } catch {
      return null;
    }
  }

  private ofSystem(): Theme {
    return system.matches ? "dark" : "light";
  }

  private apply(theme: Theme): void {
    this.current = theme;
    document.documentElement.dataset.theme = theme;
  }
}

export const theme = new ThemeState();
