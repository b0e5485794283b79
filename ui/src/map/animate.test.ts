import { describe, expect, it } from "vitest";
import { countWhileMoving, eased, Frames, MOST_MOVING, REST, TRAVEL, type Clock } from "./animate";

class HandClock implements Clock {
  time = 1000;
  private frames: (() => void)[] = [];
  private timers: { at: number; act: () => void; id: number }[] = [];
  private next = 1;
  now = (): number => this.time;
  nextFrame(act: () => void): number {
    this.frames.push(act);
    return this.next++;
  }
  cancelFrame(): void {
    this.frames = [];
  }
  later(act: () => void, milliseconds: number): ReturnType<typeof setTimeout> {
    this.timers.push({ at: this.time + milliseconds, act, id: this.next });
    return this.next++ as unknown as ReturnType<typeof setTimeout>;
  }
  cancel(timer: ReturnType<typeof setTimeout> | undefined): void {
    this.timers = this.timers.filter(({ id }) => id !== (timer as unknown as number));
  }
  get waiting(): number {
    return this.frames.length + this.timers.length;
  }
  /** A sixtieth of a second, and what is due. */
  tick(): void {
    this.time += 16;
    for (const timer of this.timers.filter(({ at }) => at <= this.time)) {
      this.cancel(timer.id as unknown as ReturnType<typeof setTimeout>);
      timer.act();
    }
    this.frames.splice(0).forEach((act) => act());
  }
}

function made(total: number, cost: number): { clock: HandClock; frames: Frames; drawn: { count: number; part: number; resting: boolean }[] } {
  const clock = new HandClock();
  const drawn: { count: number; part: number; resting: boolean }[] = [];
  const frames = new Frames(
    {
      total: () => total,
      draw: (count, part, resting) => drawn.push({ count, part, resting }),
      finished: (done) => void clock.later(done, (cost * (drawn.at(-1)?.count ?? 0)) / total),
    },
    clock,
  );
  return { clock, frames, drawn };
}

describe("countWhileMoving", () => {
  it("draws all where that is quick, or where there are few", () => {
    expect(countWhileMoving(1_000_000, 10)).toBe(1_000_000);
    expect(countWhileMoving(5000, 500)).toBe(5000);
  });
  it("draws at most the first hundred thousand where it is slow or not known", () => {
    expect(countWhileMoving(1_000_000, 30)).toBe(MOST_MOVING);
    expect(countWhileMoving(1_000_000, null)).toBe(MOST_MOVING);
    expect(countWhileMoving(1_000_000, 5000)).toBe(10_000);
    expect(countWhileMoving(60_000, 48)).toBe(30_000);
  });
});

describe("eased", () => {
  it("begins and ends slowly", () => {
    expect([eased(-1), eased(0), eased(0.5), eased(1), eased(7)]).toEqual([0, 0, 0.5, 1, 1]);
    expect(eased(0.1)).toBeLessThan(0.1);
  });
});

describe("Frames", () => {
  it("draws once however often it is asked, and then no more", () => {
    const { clock, frames, drawn } = made(1000, 1);
    frames.changed();
    frames.changed();
    for (let i = 0; i < 50; i++) clock.tick();
    expect(drawn).toEqual([{ count: 1000, part: 1, resting: true }]);
    expect(clock.waiting).toBe(0);
  });
  it("draws few while it moves on a slow machine, and all once it rests", () => {
    const { clock, frames, drawn } = made(1_000_000, 500);
    frames.changed();
    for (let i = 0; i < 50; i++) clock.tick();
    for (let i = 0; i < 20; i++) {
      frames.moved();
      clock.tick();
    }
    const moving = drawn.slice(1);
    expect(moving.length).toBeGreaterThan(3);
    expect(moving.every(({ count, resting }) => count <= MOST_MOVING && !resting)).toBe(true);
    for (let i = 0; i < 20; i++) clock.tick();
    expect(drawn.at(-1)).toEqual({ count: 1_000_000, part: 1, resting: true });
    for (let i = 0; i < 60; i++) clock.tick();
    expect(clock.waiting).toBe(0);
  });
  it("draws all while it moves on a quick machine", () => {
    const { clock, frames, drawn } = made(1_000_000, 5);
    frames.changed();
    for (let i = 0; i < 10; i++) clock.tick();
    frames.moved();
    clock.tick();
    expect(drawn.at(-1)).toEqual({ count: 1_000_000, part: 1, resting: false });
  });
  it("does not pile up frames that a slow card has yet to draw", () => {
    const { clock, frames, drawn } = made(5000, 100);
    for (let i = 0; i < 40; i++) {
      frames.moved();
      clock.tick();
    }
    expect(drawn.length).toBeLessThan(10);
  });
  it("travels from one place to the next and rests there", () => {
    const { clock, frames, drawn } = made(1000, 1);
    frames.travel();
    for (let i = 0; i < Math.ceil((TRAVEL + REST) / 16) + 2; i++) clock.tick();
    const parts = drawn.map(({ part }) => part);
    expect(parts[0]).toBeLessThan(0.05);
    expect(parts).toEqual([...parts].sort((a, b) => a - b));
    expect(drawn.at(-1)).toEqual({ count: 1000, part: 1, resting: true });
    expect(drawn.length).toBeGreaterThan(10);
    expect(clock.waiting).toBe(0);
  });
  it("draws nothing more when it is stopped", () => {
    const { clock, frames, drawn } = made(1000, 1);
    frames.changed();
    frames.stop();
    clock.tick();
    expect(drawn).toEqual([]);
  });
});
