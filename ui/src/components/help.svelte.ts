// Whether the list of shortcuts is open.

class HelpState {
  open = $state(false);

  show(): void {
    this.open = true;
  }

  hide(): void {
    this.open = false;
  }
}

export const help = new HelpState();
