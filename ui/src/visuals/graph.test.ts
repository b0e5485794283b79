import { describe, expect, it } from "vitest";
import { rangeOf, spanOf, ticksOf, tracesOf } from "./graph";

describe("spanOf", () => {
  it("has room where all values are one, and none are", () => {
    expect(spanOf([1, 3])).toEqual({ low: 1, high: 3 });
    expect(spanOf([5, 5])).toEqual({ low: 4.5, high: 5.5 });
    expect(spanOf([0])).toEqual({ low: -0.5, high: 0.5 });
    expect(spanOf([NaN])).toEqual({ low: 0, high: 1 });
  });
});

describe("tracesOf", () => {
  it("draws a line for each trace and leaves gaps", () => {
    const found = tracesOf({ values: [0, 1, 1, NaN, 0, 1], shape: [3, 2] }, { low: 0, high: 1 }, 100, 10);
    expect(found).toEqual([{ path: "M0 10L50 0L100 10", gaps: 0 }, { path: "M0 0M100 0", gaps: 1 }]);
  });

  it("keeps a spike of one point among a hundred thousand", () => {
    const values = new Float32Array(100_000);
    values[77_777] = 5;
    const [trace] = tracesOf({ values, shape: [100_000, 1] }, { low: 0, high: 5 }, 300, 50);
    expect(trace!.path).toMatch(/ 0L/);
    expect(trace!.path.split("L").length).toBeLessThan(1000);
  });

  it("puts a point alone in the middle", () => expect(tracesOf({ values: [1], shape: [1, 1] }, { low: 0, high: 2 }, 100, 10)[0]!.path).toBe("M50 5"));
});

describe("ticksOf", () => {
  it("are round and within", () => {
    expect(ticksOf({ low: 0, high: 1 }, 4)).toEqual([0, 0.5, 1]);
    expect(ticksOf({ low: -3.2, high: 7 }, 6)).toEqual([-2, 0, 2, 4, 6]);
    expect(ticksOf({ low: -0.1, high: 1 }, 2)).toEqual([0, 1]);
    expect(ticksOf({ low: 1, high: 1 }, 5)).toEqual([]);
  });
});

describe("rangeOf", () => {
  it("is what was given, or counts the points", () => {
    expect(rangeOf([2, 4], 9)).toEqual({ low: 2, high: 4 });
    expect(rangeOf(null, 9)).toEqual({ low: 0, high: 8 });
  });
});
