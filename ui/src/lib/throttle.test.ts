import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { throttled } from "./throttle";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("acts at once, and once more for all that was asked meanwhile", () => {
  const act = vi.fn();
  const { ask } = throttled(act, 1000);
  ask();
  ask();
  ask();
  expect(act).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1000);
  expect(act).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(5000);
  expect(act).toHaveBeenCalledTimes(2);
});
it("does nothing after it is stopped", () => {
  const act = vi.fn();
  const { ask, stop } = throttled(act, 1000);
  ask();
  ask();
  stop();
  vi.advanceTimersByTime(5000);
  expect(act).toHaveBeenCalledTimes(1);
});
