import { describe, expect, it } from "vitest";
import type { FindingRow } from "../api/schema";
import { axisSteps, columnOf, labelled, moved, placeOf, rowHeight, scrolledTo, sickTensors, stepsOf, ticksOf, zoomed } from "./stripes_layout";

function finding(step: number | null, severity: FindingRow["severity"] = "error", tensor: string | null = "t"): FindingRow {
  return { id: `${step}`, code: "Rule", severity, message: "", source: "", time: 0, step, attempt: 0, tensor, replaced: false };
}

describe("rows", () => {
  it("few are high, many are low, and neither beyond its limit", () => {
    expect([rowHeight(3, 480), rowHeight(60, 480), rowHeight(2000, 480), rowHeight(0, 480)]).toEqual([22, 8, 3, 22]);
  });
  it("all are labelled where there is room", () => {
    expect(labelled(["a", "a", "b"], 22, 0, 2)).toEqual([0, 1, 2]);
  });
  it("low ones are labelled where layers begin, never on top of each other", () => {
    const layers = Array.from({ length: 200 }, (_, i) => `layer ${Math.floor(i / 4)}`);
    const rows = labelled(layers, 3, 0, 199);
    expect(rows.length).toBeGreaterThan(20);
    rows.forEach((row, i) => expect(i === 0 ? 5 : row - rows[i - 1]!).toBeGreaterThanOrEqual(5));
    expect(rows.filter((row) => row % 4 === 0).length).toBe(rows.length);
  });
  it("which are labelled does not change while scrolling", () => {
    const layers = Array.from({ length: 100 }, (_, i) => `layer ${Math.floor(i / 3)}`);
    const all = labelled(layers, 3, 0, 99);
    const part = labelled(layers, 3, 40, 60).filter((row) => row >= 45);
    expect(part.every((row) => all.includes(row))).toBe(true);
  });
});

describe("steps along the axis", () => {
  const steps = [0, 64, 128, 130];
  it("are found again by their place, also where columns hold different numbers of them", () => {
    expect([columnOf(steps, 0), columnOf(steps, 63), columnOf(steps, 64), columnOf(steps, 129), columnOf(steps, 999)]).toEqual([0, 0, 1, 2, 2]);
    expect(placeOf(steps, 32)).toBeCloseTo(0.5 / 3);
    expect(placeOf(steps, 129)).toBeCloseTo(2.5 / 3);
  });
  it("a selection holds whole columns, in either direction", () => {
    expect(stepsOf(steps, 2, 1)).toEqual({ from: 64, to: 129 });
    expect(stepsOf(steps, -5, 99)).toEqual({ from: 0, to: 129 });
  });
  it("are marked at round numbers", () => {
    expect(axisSteps([0, 500, 1000], 5)).toEqual([0, 200, 400, 600, 800]);
    expect(axisSteps([7, 8], 5)).toEqual([7]);
    expect(axisSteps([], 5)).toEqual([]);
  });
});

describe("the cursor", () => {
  it("moves by arrows and pages and stays inside", () => {
    expect(moved({ row: 0, column: 0 }, "ArrowUp", 5, 9, 3)).toEqual({ row: 0, column: 0 });
    expect(moved({ row: 0, column: 0 }, "PageDown", 5, 9, 3)).toEqual({ row: 3, column: 0 });
    expect(moved({ row: 2, column: 3 }, "End", 5, 9, 3)).toEqual({ row: 2, column: 8 });
    expect(moved({ row: 2, column: 3 }, "a", 5, 9, 3)).toBeNull();
  });
  it("is scrolled to only where it is not seen", () => {
    expect([scrolledTo(5, 10, 0, 100), scrolledTo(20, 10, 0, 100), scrolledTo(1, 10, 50, 100)]).toEqual([0, 110, 10]);
  });
});

describe("zooming by keys", () => {
  it("inwards keeps the step under the cursor in sight", () => {
    const { from, to } = zoomed([0, 25, 50, 75, 100], 2, 0.5);
    expect(from!).toBeLessThanOrEqual(50);
    expect(to!).toBeGreaterThanOrEqual(62);
    expect(to! - from! + 1).toBe(50);
  });
  it("outwards goes back to the first step", () => {
    expect(zoomed([10, 20, 30], 0, 4).from).toBeNull();
  });
});

describe("findings", () => {
  it("near each other share a tick with the worst severity; those without a step or outside have none", () => {
    const ticks = ticksOf([finding(1, "warning"), finding(2, "error"), finding(90, "info"), finding(null), finding(500)], [0, 50, 100], 20);
    expect(ticks.map(({ severity, findings }) => [severity, findings.length])).toEqual([["error", 2], ["info", 1]]);
  });
  it("mark the tensors that they are about, unless a later attempt replaced them", () => {
    const sick = sickTensors([finding(1, "warning"), finding(2, "error"), { ...finding(3, "error", "u"), replaced: true }]);
    expect([...sick]).toEqual([["t", { severity: "error", count: 2 }]]);
  });
});
