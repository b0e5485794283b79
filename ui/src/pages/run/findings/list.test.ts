import { describe, expect, it } from "vitest";
import type { FindingRow } from "../../../api/schema";
import { chosen, groupsOf, itemsOf, stepsText, worthGrouping } from "./list";

function finding(code: string, severity: FindingRow["severity"], step: number | null, source = "watch"): FindingRow {
  return { id: `${code} ${step}`, code, severity, message: "", source, time: 0, step, attempt: 0, tensor: null, replaced: false };
}
const some = [finding("Spike", "warning", 9), finding("Spike", "warning", 3), finding("NaN", "error", 5), finding("Odd", "info", null, "analyze")];

describe("findings", () => {
  it("are chosen by severity, rule, and what they are about", () => {
    expect(chosen(some, { severities: ["error", "info"], code: "", about: "" }).map((one) => one.code)).toEqual(["NaN", "Odd"]);
    expect(chosen(some, { severities: [], code: "Spike", about: "training" })).toHaveLength(2);
    expect(chosen(some, { severities: [], code: "", about: "samples" }).map((one) => one.code)).toEqual(["Odd"]);
  });
  it("are grouped by rule, the worst first, with the steps that they span", () => {
    const groups = groupsOf(some);
    expect(groups.map((group) => [group.code, group.findings.length])).toEqual([["NaN", 1], ["Spike", 2], ["Odd", 1]]);
    expect(stepsText(groups[1]!.first, groups[1]!.last)).toBe("3 to 9");
    expect(stepsText(groups[2]!.first, groups[2]!.last)).toBe("–");
  });
  it("a few are shown one by one, many by rule", () => {
    expect(worthGrouping(some)).toBe(false);
    expect(worthGrouping(Array.from({ length: 30 }, (_, i) => finding("Spike", "warning", i)))).toBe(true);
  });
  it("an open group is followed by its findings", () => {
    const items = itemsOf(some, true, ["Spike"]);
    expect(items.map((item) => (item.kind === "group" ? item.group.code : item.finding.step))).toEqual(["NaN", "Spike", 9, 3, "Odd"]);
    expect(itemsOf(some, false, []).length).toBe(4);
  });
});
