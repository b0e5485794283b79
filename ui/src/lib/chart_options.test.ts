import { expect, it } from "vitest";
import type { ChartSeries } from "./chart_data";
import { colourOf, faded, optionsOf, type Palette } from "./chart_options";

const palette: Palette = { ink: "#000000", faint: "#111111", grid: "#222222", bad: "#ff0000", warn: "#ffff00", series: ["#000001", "#000002"] };
const series: ChartSeries[] = [{ label: "a", x: [0], values: [1], colour: 1, min: [0], max: [2] }, { label: "b", x: [0], values: [1], colour: 2, dash: "dashed" }];
const wishes = { series, palette, width: 300, height: 100, log: false, kind: "number" as const, sync: undefined, range: () => ({ min: 2, max: 5 }), zoomed: () => {}, pointed: () => {}, drawn: () => {} };

it("fades a colour and begins again after the last", () => {
  expect(faded("#102030", 0.5)).toBe("#10203080");
  expect(faded("red", 0.5)).toBe("red");
  expect(colourOf(palette, 3)).toBe("#000001");
});
it("has a series for every column, a band between extremes, and the page's range", () => {
  const options = optionsOf(wishes);
  expect(options.series).toHaveLength(1 + 4);
  expect(options.bands).toEqual([{ series: [1, 2], fill: "#00000152" }]);
  expect(options.series[4]).toMatchObject({ label: "b", dash: [6, 3] });
  const range = options.scales!["x"]!.range as () => [number, number];
  expect(range()).toEqual([2, 5]);
});
it.each([
  [false, 0, 10, [-0.6, 10.6]],
  [false, 3, 3, [2.7, 3.3]],
  [false, 3, 3 + 1e-15, [2.7, 3.3]],
  [false, null, null, [0, 1]],
  [true, null, null, [1, 10]],
  [true, 0, 5, [1, 10]],
])("gives room around the values (log %s, %s to %s)", (log, min, max, expected) => {
  const range = optionsOf({ ...wishes, log }).scales!["y"]!.range as unknown as (plot: null, min: number | null, max: number | null) => number[];
  range(null, min, max).forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 6));
});
it("gives equal room in logarithms", () => {
  const range = optionsOf({ ...wishes, log: true }).scales!["y"]!.range as unknown as (plot: null, min: number, max: number) => number[];
  const [low, high] = range(null, 1, 100);
  expect(low! * high!).toBeCloseTo(100, 6);
});
it("labels a log scale at round values only", () => {
  const label = optionsOf({ ...wishes, log: true }).axes![1]!.values as unknown as (plot: null, splits: (number | null)[]) => string[];
  expect(label(null, [0.001329, 0.01, 0.02, 0.03, 1, 1000, null])).toEqual(["", "0.01", "0.02", "", "1", "1,000", ""]);
});
it("has ticks for the smallest and the largest values that a training can have", () => {
  const { incrs, splits } = optionsOf(wishes).axes![1]! as unknown as { incrs: number[]; splits: (plot: null, axis: number, min: number, max: number, increment: number) => number[] };
  expect(Math.min(...incrs)).toBeLessThan(1e-30);
  expect(Math.max(...incrs)).toBeGreaterThan(3.4e38);
  expect(incrs).toEqual([...incrs].sort((a, b) => a - b));
  expect(splits(null, 1, -0.03, 0.32, 0.1)).toEqual([0, 0.1, 0.2, 0.3]);
  expect(splits(null, 1, 0, 3.4e38, 1e38)).toEqual([0, 1e38, 2e38, 3e38]);
});
