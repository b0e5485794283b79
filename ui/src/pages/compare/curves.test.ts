import { expect, it } from "vitest";
import { chartSeries, runCurves } from "./curves";

const columns = {
  rows: 5,
  has: (name: string) => name !== "nonfinite",
  texts: () => ["a", "a", "a", "b", "b"],
  numbers: (name: string) => Float64Array.from(name === "time" ? [10, 11, 12, 50, 51] : name === "value" ? [3, NaN, 1, 2, 2] : [0, 1, 2, 0, 1]),
  about: () => null,
};
const runs = [{ id: "a", start: 9 }, { id: "gone", start: null }, { id: "b", start: null }];

it("takes the runs apart", () => {
  const curves = runCurves(columns);
  expect([...curves.get("b")!.value]).toEqual([2, 2]);
  expect([...curves.get("a")!.nonfinite]).toEqual([0, 0, 0]);
});
it("draws each run in the style of its place, also where another has no such series", () => {
  const series = chartSeries(runCurves(columns), runs, "step", 0);
  expect(series.map(({ label, colour }) => [label, colour])).toEqual([["1", 1], ["3", 3]]);
});
it("counts time from each run's own start", () => {
  const [a, b] = chartSeries(runCurves(columns), runs, "time", 0);
  expect([...(a!.x as Float64Array)]).toEqual([1, 2, 3]);
  expect([...(b!.x as Float64Array)]).toEqual([0, 1]);
});
it("keeps gaps when it smooths", () => {
  expect(chartSeries(runCurves(columns), runs, "step", 0.5)[0]!.values[1]).toBeNaN();
});
