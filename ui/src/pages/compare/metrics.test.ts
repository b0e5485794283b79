import { expect, it } from "vitest";
import type { ScalarRow } from "../../api/schema";
import { metricColumns, winners } from "./metrics";

function scalar(series: string, group: ScalarRow["group"]): ScalarRow {
  const [name, mode] = series.split("@") as [string, string];
  return { series, name, mode, group, derived: group === "throughput", count: 1, first: 0, last: 0, min: 0, max: 0, last_step: 0, nonfinite: 0 };
}

it("has what the charts show first, then losses and metrics", () => {
  const found = metricColumns([scalar("loss@TRAIN", "loss"), scalar("lr@TRAIN", "rate"), scalar("s@TRAIN", "throughput"), scalar("acc@EVAL", "metric")], ["lr@TRAIN"]);
  expect(found.map((one) => one.series)).toEqual(["lr@TRAIN", "loss@TRAIN", "acc@EVAL"]);
});
it("finds the best, also several", () => {
  expect(winners([3, 1, null, 1], "min")).toEqual(new Set([1, 3]));
  expect(winners([3, 1, NaN, 2], "max")).toEqual(new Set([0]));
});
it("knows no best of one value, or of equal ones", () => {
  expect(winners([3, null], "min").size).toBe(0);
  expect(winners([2, 2], "min").size).toBe(0);
});
