import { describe, expect, it } from "vitest";
import type { Histogram } from "../api/schema";
import { extras, savedAround, shapeOf } from "./histogram";

function made(edges: number[], counts: number[], more: Partial<Histogram> = {}): Histogram {
  const size = counts.reduce((a, b) => a + b, 0);
  return {
    step: 0, shape: [size], dtype: "float32", size, edges, counts,
    nan: 0, positive_infinity: 0, negative_infinity: 0, zeros: 0, min: 0, max: 0, mean: 0, std: 0, ...more,
  };
}

describe("the bars of a histogram", () => {
  it("the fullest bin is the highest bar and the axis ends at the outer edges", () => {
    const shape = shapeOf(made([0, 1, 2], [1, 3]), null);
    expect([shape.low, shape.high]).toEqual([0, 2]);
    expect(shape.bars.map((bar) => bar.height)).toEqual([expect.closeTo(1 / 3), 1]);
    expect(shape.bars[1]).toMatchObject({ from: 0.5, to: 1, count: 3 });
  });

  it("an earlier one with wider bins is drawn over the same axes by its density", () => {
    const shape = shapeOf(made([0, 1, 2], [2, 2]), made([0, 4], [4]));
    expect(shape.high).toBe(4);
    expect(shape.bars[0]!.height).toBe(1);
    expect(shape.before[0]!.height).toBeCloseTo(0.5);
  });

  it("by its logarithm a single value beside thousands is seen, and the order stays", () => {
    const heights = shapeOf(made([0, 1, 2, 3], [10_000, 0, 1]), null, true).bars.map((bar) => bar.height);
    expect(heights[0]).toBe(1);
    expect(heights[1]).toBe(0);
    expect(heights[2]).toBeGreaterThan(0.05);
  });

  it("a tensor without a finite value has no bars and its share of NaN is told", () => {
    const broken = made([], [], { nan: 8, size: 8 });
    expect(shapeOf(broken, null).bars).toEqual([]);
    expect(extras(broken).find((one) => one.name === "NaN")).toEqual({ name: "NaN", count: 8, share: 1, bad: true });
  });

  it("a healthy tensor has no bad extras", () => {
    expect(extras(made([0, 1], [4], { zeros: 2 })).filter((one) => one.bad && one.count > 0)).toEqual([]);
  });
});

describe("saved steps", () => {
  it("the last one is shown unless another is wanted", () => {
    expect(savedAround([0, 10, 20], null)).toEqual({ step: 20, index: 2, previous: 10, next: null });
    expect(savedAround([0, 10, 20], 0)).toEqual({ step: 0, index: 0, previous: null, next: 10 });
  });
  it("a step that was not saved gives the nearest that was", () => {
    expect(savedAround([0, 10, 20], 13)?.step).toBe(10);
    expect(savedAround([0, 10, 20], 16)?.step).toBe(20);
    expect(savedAround([0, 10, 20], 99)?.step).toBe(20);
  });
  it("nothing saved is nothing shown", () => {
    expect(savedAround([], 3)).toBeNull();
  });
});
