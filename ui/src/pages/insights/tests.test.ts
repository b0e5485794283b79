import { describe, expect, test } from "vitest";
import type { TestRow, TestsOfRun } from "../../api/schema";
import { boundOf, counted, isShareLine, matrixOf, plotOf, sortedTests, valueText } from "./tests";

const row = (line: string, verdict: TestRow["verdict"], value: number | null = 0.9): TestRow => ({ name: "", line, why: "", insight: false, verdict, reason: "", value, low: null, high: null, samples: 30 });
const run = (id: string, tests: TestRow[]): TestsOfRun => ({ run: id, name: id, evaluation: 0, tests, error: "" });

describe("the bound of a line", () => {
  test.each([
    ["accuracy where label = 4 at least 0.95", 0.95, true],
    ["accuracy where label = 4 at least 95 %", 0.95, true],
    ["loss of test at most 0.3", 0.3, false],
    ["loss <= 3e-2", 0.03, false],
    ["error at  most .1 with at least 50 samples", 0.1, false],
  ])("%s", (line, value, atLeast) => {
    const bound = boundOf(line)!;
    expect(bound.value).toBeCloseTo(value);
    expect(bound.atLeast).toBe(atLeast);
  });
  test("of a line without one there is none", () => {
    expect(boundOf("accuracy where label = 4")).toBeNull();
  });
});

describe("figures of a test", () => {
  test("shares are percent", () => {
    expect(isShareLine("accuracy at least 0.9")).toBe(true);
    expect(isShareLine("metric.accuracy at least 0.9")).toBe(false);
    expect(valueText("accuracy at least 0.9", 0.912)).toBe("91.2 %");
    expect(valueText("loss at most 1", 0.91234)).toBe("0.912");
  });
  test("value, interval and bound share a scale and a sentence", () => {
    const plot = plotOf({ line: "accuracy at least 0.95", value: 0.9, low: 0.85, high: 0.94 })!;
    expect(plot.scale.min).toBeLessThan(0.85);
    expect(plot.scale.max).toBeGreaterThan(0.95);
    expect(plot.words).toBe("90 %, 95 % interval 85 % to 94 %; target: at least 95 %");
    expect(plotOf({ line: "accuracy at least 0.95", value: null, low: null, high: null })).toBeNull();
  });
  test("verdicts are counted, the worst first", () => {
    expect(counted([row("a", "passed"), row("b", "failed"), row("c", "passed")])).toBe("1 failed, 2 passed");
    expect(counted([])).toBe("");
  });
});

describe("orders", () => {
  const tests = [row("b at least 1", "passed", 0.1), row("a at least 1", "failed", 0.5), row("c at least 1", "not judged", null)];
  test("failed ones first unless asked otherwise", () => {
    expect(sortedTests(tests, "", false).map((one) => one.verdict)).toEqual(["failed", "not judged", "passed"]);
    expect(sortedTests(tests, "name", true).map((one) => one.line[0])).toEqual(["c", "b", "a"]);
    expect(sortedTests(tests, "value", false).map((one) => one.value)).toEqual([null, 0.1, 0.5]);
  });
  test("runs beside each other: a cell for each, also where one has no answer", () => {
    const first = run("r", [row("a", "passed"), row("b", "passed")]);
    const second = run("s", [row("b", "failed")]);
    const rows = matrixOf([first, second], "", false);
    expect(rows.map((one) => one.line)).toEqual(["b", "a"]);
    expect(rows.map((one) => one.cells.map((cell) => cell?.verdict ?? null))).toEqual([["passed", "failed"], ["passed", null]]);
    expect(matrixOf([first, second], "name", false).map((one) => one.line)).toEqual(["a", "b"]);
    expect(matrixOf([first, second], "s", true).map((one) => one.line)).toEqual(["a", "b"]);
  });
});
