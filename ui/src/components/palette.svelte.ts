// Whether the command palette is shown.

class Palette {
  open = $state(false);

  show(): void {
    this.open = true;
  }

  hide(): void {
    this.open = false;
  }
}

export const palette = new Palette();
