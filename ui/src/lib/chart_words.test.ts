import { describe as group, expect, it } from "vitest";
import type { ChartSeries } from "./chart_data";
import { describe, rowsOf, shortNumber, valueText } from "./chart_words";

const loss: ChartSeries = { label: "train", x: [0, 1, 2], values: [3, 2, 1.5], colour: 1 };

it("says name, range and last value in one sentence", () => {
  expect(describe("loss", [loss], "step", { min: 0, max: 2 }, "number")).toBe("Chart of loss, step 0 to 2. train ends at 1.5.");
  expect(describe("loss", [{ ...loss, values: [NaN, NaN, NaN] }], "step", { min: 0, max: 2 }, "number")).toContain("train has no finite value");
  expect(describe("loss", [{ ...loss, values: [3, 2, NaN] }], "step", { min: 0, max: 2 }, "number")).toContain("not finite, the last finite one is 2");
  expect(describe("loss", [], "step", { min: 0, max: 1 }, "number")).toContain("No values.");
});

group("rowsOf", () => {
  it("has a row for every x inside the range", () => {
    const sparse: ChartSeries = { label: "eval", x: [2], values: [9], colour: 2 };
    expect(rowsOf([loss, sparse], { min: 1, max: 2 })).toEqual([
      { x: 1, values: [2, undefined] },
      { x: 2, values: [1.5, 9] },
    ]);
  });
  it("has at most fifty, the first and the last among them", () => {
    const x = Array.from({ length: 1000 }, (_, i) => i);
    const rows = rowsOf([{ label: "a", x, values: x, colour: 1 }], { min: 0, max: 999 });
    expect(rows).toHaveLength(50);
    expect([rows[0]!.x, rows.at(-1)!.x]).toEqual([0, 999]);
  });
});

it.each([
  [null, ""],
  [0.25, "0.25"],
  [9000, "9,000"],
  [12500, "12.5k"],
  [-3e6, "−3M"],
  [2e9, "2G"],
])("writes %s short as %s", (value, text) => {
  expect(shortNumber(value)).toBe(text);
});

it("tells a value that is not finite from one that is not there", () => {
  expect([valueText(0.5), valueText(null), valueText(NaN), valueText(undefined)]).toEqual(["0.5", "not finite", "not finite", "–"]);
});
