import { columnFromArray, tableFromColumns, tableToIPC, float64 } from "@uwdata/flechette";
import { describe, expect, it, vi } from "vitest";
import { columnsOf } from "../../../api/arrow";
import type { FindingRow } from "../../../api/schema";
import { brokenSince, chartsOf, marksOf } from "./series";

// Reading an answer needs no server, and here is no document.
vi.mock("../../../api/client", () => ({ getBytes: () => Promise.reject(new Error("not asked")) }));

function answer(columns: Record<string, number[]>) {
  const made = Object.entries(columns).map(([name, values]) => [name, columnFromArray(values, float64())] as const);
  const bytes = tableToIPC(tableFromColumns(Object.fromEntries(made)), { format: "stream" })!;
  return columnsOf(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer);
}

describe("charts of a tensor", () => {
  it("has a chart for what the run recorded, and none for the rest", () => {
    const charts = chartsOf(answer({ step: [0, 1], l2: [1, 2], nonfinite: [0, 0] }));
    expect(charts.map((chart) => chart.name)).toEqual(["Norm and change"]);
  });
  it("the mean lies in the band of the tensor's smallest and largest values", () => {
    const [chart] = chartsOf(answer({ step: [0], mean: [0], min_min: [-3], max_max: [4] }));
    expect([chart!.series[0]!.min![0], chart!.series[0]!.max![0]]).toEqual([-3, 4]);
  });
  it("what is not finite has a chart only where there is some, and says since when", () => {
    const sick = answer({ step: [0, 5, 9], l2: [1, NaN, NaN], nonfinite: [0, 4, 4] });
    expect(chartsOf(sick).at(-1)!.name).toBe("Values that are not finite");
    expect(brokenSince(sick)).toBe(5);
    expect(brokenSince(answer({ step: [0], nonfinite: [0] }))).toBeNull();
  });
  it("a line ends where no finite value is left, though its sum over nothing is 0", () => {
    const sick = answer({ step: [0, 1, 2], l2: [1, 2, 0], nonfinite: [0, 3, 4] });
    expect([...Array.from(chartsOf(sick, 4)[0]!.series[0]!.values)]).toEqual([1, 2, NaN]);
  });
  it("findings without a step are no marks", () => {
    const finding = { id: "a", code: "Rule", severity: "error", message: "m", step: 4 } as FindingRow;
    expect(marksOf([finding, { ...finding, step: null }], (one) => one.id)).toEqual([{ x: 4, label: "Rule, step 4: m", severity: "error", href: "a" }]);
  });
});
