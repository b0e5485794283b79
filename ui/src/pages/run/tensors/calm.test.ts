import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Calm } from "./calm";

describe("a costly look", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is taken at once, and again only after a rest, however often it is asked for", async () => {
    const look = vi.fn();
    const calm = new Calm(look, 2000);
    calm.ask();
    await vi.advanceTimersByTimeAsync(0);
    for (let i = 0; i < 50; i++) calm.ask();
    await vi.advanceTimersByTimeAsync(1900);
    expect(look).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(look).toHaveBeenCalledTimes(2);
  });

  it("that takes long is followed by a longer rest", async () => {
    const look = vi.fn(() => new Promise<void>((done) => setTimeout(done, 1000)));
    const calm = new Calm(look, 2000);
    calm.ask();
    await vi.advanceTimersByTimeAsync(1000);
    calm.ask();
    await vi.advanceTimersByTimeAsync(3900);
    expect(look).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(look).toHaveBeenCalledTimes(2);
  });

  it("is not taken after it was stopped", async () => {
    const look = vi.fn();
    const calm = new Calm(look);
    calm.ask();
    calm.stop();
    await vi.advanceTimersByTimeAsync(5000);
    expect(look).not.toHaveBeenCalled();
  });
});
