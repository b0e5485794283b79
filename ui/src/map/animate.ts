// When the map is drawn, and how much of it: on demand only, once a frame; while it moves on a slow machine only the first of
// the points, and all of them once it rests. Knows no WebGL: drawing and clocks are given.

/** A way from one map to the next, in milliseconds. */
export const TRAVEL = 400;
/** How long after the last movement all points are drawn. */
export const REST = 120;
/** A frame may take this long before it is felt. */
export const SMOOTH = 24;
/** What a slow machine draws at most while the map moves, and at least. */
export const MOST_MOVING = 100_000;
const LEAST_MOVING = 10_000;

/** How many of `total` points are drawn while the map moves, where drawing all of them took so long (null: not known yet). */
export function countWhileMoving(total: number, milliseconds: number | null): number {
  if (total <= LEAST_MOVING || (milliseconds === null ? total <= MOST_MOVING : milliseconds <= SMOOTH)) return total;
  const share = milliseconds === null ? MOST_MOVING : Math.floor((total * SMOOTH) / milliseconds);
  return Math.min(total, MOST_MOVING, Math.max(LEAST_MOVING, share));
}

/** How far something is that goes slowly, fast, slowly: both from 0 to 1. */
export function eased(part: number): number {
  const inside = Math.min(1, Math.max(0, part));
  return inside * inside * (3 - 2 * inside);
}

export interface Clock {
  now(): number;
  nextFrame(act: () => void): number;
  cancelFrame(frame: number): void;
  later(act: () => void, milliseconds: number): ReturnType<typeof setTimeout>;
  cancel(timer: ReturnType<typeof setTimeout> | undefined): void;
}

export const BROWSER_CLOCK: Clock = {
  now: () => performance.now(),
  nextFrame: (act) => requestAnimationFrame(act),
  cancelFrame: (frame) => cancelAnimationFrame(frame),
  later: (act, milliseconds) => setTimeout(act, milliseconds),
  cancel: (timer) => clearTimeout(timer),
};

export interface Drawing {
  total(): number;
  /** Draw the first `count`, so far on their way; `resting` says that the map is still. */
  draw(count: number, part: number, resting: boolean): void;
  /** Tell, later, that the graphics card is done with what was drawn last. */
  finished(done: () => void): void;
}

export class Frames {
  private frame: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private movedAt = -Infinity;
  private leftAt = -Infinity;
  private full: number | null = null;
  private busy = false;

  constructor(private readonly drawing: Drawing, private readonly clock: Clock = BROWSER_CLOCK) {}

  /** Something else is to be seen: draw all of it. */
  changed(): void {
    this.frame ??= this.clock.nextFrame(() => this.show());
  }

  /** The view moved: draw as much as goes well, and all of it once it rests. */
  moved(): void {
    this.movedAt = this.clock.now();
    this.changed();
  }

  /** The points are on their way to other places. */
  travel(): void {
    this.leftAt = this.clock.now();
    this.changed();
  }

  /** What was known of the time that drawing takes no longer holds. */
  forget(): void {
    this.full = null;
    this.busy = false;
  }

  get travelling(): boolean {
    return this.clock.now() - this.leftAt < TRAVEL;
  }

  get moving(): boolean {
    return this.clock.now() - this.movedAt < REST || this.travelling;
  }

  stop(): void {
    if (this.frame !== undefined) this.clock.cancelFrame(this.frame);
    this.clock.cancel(this.timer);
    this.frame = undefined;
  }

  private show(): void {
    this.frame = undefined;
    // Frames that wait for a slow card would pile up, and the map would lag behind the hand.
    if (this.busy && this.moving) return this.changed();
    const total = this.drawing.total();
    const moving = this.moving;
    const begin = this.clock.now();
    const count = moving ? countWhileMoving(total, this.full) : total;
    this.drawing.draw(count, eased((this.clock.now() - this.leftAt) / TRAVEL), !moving);
    this.watch(count === total, begin);
    this.clock.cancel(this.timer);
    if (this.travelling) this.changed();
    else if (moving) this.timer = this.clock.later(() => this.changed(), this.movedAt + REST - this.clock.now() + 1);
  }

  private watch(whole: boolean, begin: number): void {
    if (this.busy) return;
    this.busy = true;
    this.drawing.finished(() => {
      this.busy = false;
      if (whole) this.full = this.clock.now() - begin;
    });
  }
}

/** Whether the person asked for pictures that do not move. */
export function standsStill(): boolean {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Does something when the page has nothing better to do; returns how to call it off. Safari knows no idle time. */
export function whenIdle(act: () => void): () => void {
  if (!("requestIdleCallback" in window)) {
    const timer = setTimeout(act, 300);
    return () => clearTimeout(timer);
  }
  const asked = requestIdleCallback(act, { timeout: 2000 });
  return () => cancelIdleCallback(asked);
}
