import { describe, expect, it } from "vitest";
import { barOf, barSpan, chosenBars, placeOf } from "./bars";

describe("bars", () => {
  it("begin at 0, to both sides", () => {
    const span = barSpan([-1, 3]);
    expect(barOf(3, span)).toEqual({ from: 0.25, width: 0.75 });
    expect(barOf(-1, span)).toEqual({ from: 0, width: 0.25 });
    expect(barOf(NaN, span)).toEqual({ from: 0.25, width: 0 });
  });
  it("of nothing have a span all the same", () => expect(barSpan([0], [NaN])).toEqual({ low: 0, high: 1 }));
  it("share one span with the truth", () => expect(barSpan([0.2], [1])).toEqual({ low: 0, high: 1 }));
  it("stay inside", () => expect(placeOf(9, { low: 0, high: 1 })).toBe(1));
});

describe("chosenBars", () => {
  it("are the largest, in their order, and those that must be there", () => {
    expect(chosenBars([0.1, 5, 0, 4, 3], [2], 3)).toEqual([1, 2, 3]);
    expect(chosenBars([1, 2], [], 3)).toEqual([0, 1]);
  });
});
