import { describe, expect, it } from "vitest";
import type { ScalarRow } from "../../api/schema";
import { bestOf, oddCells, seriesAtFirst, styleOf, viewOf } from "./view";

function scalar(series: string, group: ScalarRow["group"], derived = false): ScalarRow {
  const [name, mode] = series.split("@") as [string, string];
  return { series, name, mode, group, derived, count: 1, first: 0, last: 0, min: 0, max: 0, last_step: 0, nonfinite: 0 };
}

describe("viewOf", () => {
  it("reads an address", () => {
    const view = viewOf(new URLSearchParams("run=a&run=b&run=a&series=loss@TRAIN&x=epoch&smooth=0.5&log=1&only=all&base=b&from=2&to=9"));
    expect(view).toEqual({ runs: ["a", "b"], series: ["loss@TRAIN"], axis: "epoch", smooth: 0.5, log: true, all: true, baseline: "b", range: { min: 2, max: 9 }, samples: false });
  });
  it("takes what makes no sense as usual", () => {
    expect(viewOf(new URLSearchParams("x=toString2&smooth=7&from=9&to=2"))).toMatchObject({ axis: "step", smooth: 0.99, range: null, all: false });
  });
  it("compares at most 50", () => {
    expect(viewOf(new URLSearchParams(Array.from({ length: 80 }, (_, i) => ["run", `${i}`]))).runs).toHaveLength(50);
  });
});

it("gives runs their own number and 24 of them their own line", () => {
  const styles = Array.from({ length: 24 }, (_, i) => styleOf(i));
  expect(new Set(styles.map((style) => `${style.colour} ${style.dash}`)).size).toBe(24);
  expect(styleOf(49).number).toBe(50);
});

describe("seriesAtFirst", () => {
  it("shows losses before metrics, and nothing else", () => {
    const found = seriesAtFirst([scalar("lr@TRAIN", "rate"), scalar("acc@EVAL", "metric"), scalar("loss@TRAIN", "loss"), scalar("s@TRAIN", "throughput", true)]);
    expect(found).toEqual(["loss@TRAIN", "acc@EVAL"]);
  });
  it("shows something where there is neither", () => {
    expect(seriesAtFirst([scalar("x@TRAIN", "other")])).toEqual(["x@TRAIN"]);
  });
});

it.each([
  ["loss", "loss", "min"],
  ["accuracy", "metric", "max"],
  ["val_mse", "metric", "min"],
] as const)("the best of %s is its %s", (name, group, best) => {
  expect(bestOf({ name, group })).toBe(best);
});

describe("oddCells", () => {
  it("marks what differs from the baseline", () => {
    expect(oddCells(["1", "2", null], 1)).toEqual([true, false, true]);
  });
  it("marks what differs from most", () => {
    expect(oddCells(["1", "1", "2"], null)).toEqual([false, false, true]);
  });
  it("marks none without a majority", () => {
    expect(oddCells(["1", "2"], null)).toEqual([false, false]);
    expect(oddCells(["1", "1", "2", "2"], null)).toEqual([false, false, false, false]);
  });
});
