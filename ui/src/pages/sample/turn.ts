// Who asks first. Similar samples are asked for and answered in milliseconds; visuals and heat maps keep the model busy and
// hold connections, so they wait until the similars are there, or for a moment where those are slow.

const PATIENCE_MS = 400;

export class Turn {
  private readonly waiting = new Map<string, { promise: Promise<void>; go: () => void }>();

  /** Resolves when the others have had their turn for this sample. */
  of(sample: string): Promise<void> {
    const known = this.waiting.get(sample);
    if (known) return known.promise;
    let go = (): void => {};
    const promise = new Promise<void>((resolve) => (go = resolve));
    // Only the newest sample is looked at; what others wait for is of no use any more.
    for (const one of this.waiting.values()) one.go();
    this.waiting.clear();
    this.waiting.set(sample, { promise, go });
    setTimeout(go, PATIENCE_MS);
    return promise;
  }

  done(sample: string): void {
    this.waiting.get(sample)?.go();
  }
}
