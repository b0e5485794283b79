// Looks again at something that is costly to look at: at once after a rest, otherwise when the rest is over, never twice.

export class Calm {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private until = 0;

  /** `look` is done when its promise is; the rest is `least` milliseconds, or four times as long as it took. */
  constructor(
    private readonly look: () => Promise<void> | void,
    private readonly least = 2000,
  ) {}

  ask(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => void this.now(), Math.max(0, this.until - Date.now()));
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private async now(): Promise<void> {
    const begin = Date.now();
    await this.look();
    this.until = Date.now() + Math.max(this.least, 4 * (Date.now() - begin));
    this.timer = undefined;
  }
}
