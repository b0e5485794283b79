import { expect, it } from "vitest";
import { smoothed } from "./smoothing";

it("leaves everything as it is at 0", () => {
  expect([...smoothed([3, -1, 2], 0)]).toEqual([3, -1, 2]);
});
it("keeps what does not change, from the first value on", () => {
  for (const value of smoothed([5, 5, 5, 5], 0.99)) expect(value).toBeCloseTo(5, 12);
});
it("stays between the smallest and the largest so far", () => {
  const values = Array.from({ length: 200 }, (_, i) => Math.sin(i * 12.9898) * 43.7);
  let [low, high] = [Infinity, -Infinity];
  smoothed(values, 0.9).forEach((value, i) => {
    low = Math.min(low, values[i]!);
    high = Math.max(high, values[i]!);
    expect(value).toBeGreaterThanOrEqual(low - 1e-9);
    expect(value).toBeLessThanOrEqual(high + 1e-9);
  });
});
it("keeps gaps and goes on behind them as if they were not there", () => {
  const found = smoothed([1, NaN, 3], 0.5);
  expect(found[1]).toBeNaN();
  expect(found[2]).toBe(smoothed([1, 3], 0.5)[1]);
});
