import { describe, expect, it } from "vitest";
import { columnsOf, extentOf, lastValue, nonfiniteAt, roomy, tableOf, withoutLogarithm, type ChartSeries } from "./chart_data";

const train: ChartSeries = { label: "train", x: [0, 1, 2, 3], values: [4, NaN, 2, 1], colour: 1, nonfinite: [0, 1, 0, 0] };
const evaluated: ChartSeries = { label: "eval", x: [1.5, 3], values: [5, 6], colour: 2 };

describe("tableOf", () => {
  it("joins series of different x, with gaps for what is not finite and nothing for what a series does not have", () => {
    expect(tableOf([train, evaluated])).toEqual([
      [0, 1, 1.5, 2, 3],
      [4, null, undefined, 2, 1],
      [undefined, undefined, 5, undefined, 6],
    ]);
  });
  it("puts a band before its line", () => {
    const banded = { ...evaluated, min: [4, 5], max: [6, 7] };
    expect(columnsOf([banded]).map(({ part }) => part)).toEqual(["max", "min", "values"]);
    expect(tableOf([banded])).toEqual([[1.5, 3], [6, 7], [4, 5], [5, 6]]);
  });
  it("draws no band for what is pale", () => {
    expect(columnsOf([{ ...evaluated, min: [4, 5], max: [6, 7], faint: true }])).toHaveLength(1);
  });
  it("keeps the later of two points at one x", () => {
    expect(tableOf([{ ...train, x: [0, 1, 1, 2] }])).toEqual([[0, 1, 2], [4, 2, 1]]);
  });
  it("leaves what has no logarithm out of a log scale, and counts it", () => {
    const crossing = { ...train, values: [4, 0, -2, 1] };
    expect(tableOf([crossing], true)[1]).toEqual([4, null, null, 1]);
    expect(withoutLogarithm([crossing, { ...crossing, faint: true }])).toBe(2);
    expect(withoutLogarithm([train])).toBe(0);
  });
  it("is empty without series", () => {
    expect(tableOf([])).toEqual([[]]);
  });
});

it("knows where values were not finite", () => {
  expect(nonfiniteAt([train, evaluated])).toEqual([1]);
});
it("spans all series and gives a single point room", () => {
  expect(extentOf([train, evaluated])).toEqual({ min: 0, max: 3 });
  expect(extentOf([])).toBeNull();
  expect(extentOf([{ ...train, x: [NaN, 1, 2, NaN] }])).toEqual({ min: 1, max: 2 });
  expect(roomy({ min: 5, max: 5 })).toEqual({ min: 4.5, max: 5.5 });
});
it("ends at the last finite value", () => {
  expect(lastValue([1, 2, NaN])).toBe(2);
  expect(lastValue([NaN])).toBeNaN();
});
