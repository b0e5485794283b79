import { describe, expect, it } from "vitest";
import { conditionText, exactly, readCondition, replacing, withCondition, type Condition } from "./conditions";

describe("readCondition", () => {
  const conditions: Condition[] = [
    { column: "config.lr", operator: "<", value: "0.1" },
    { column: "state", operator: "=", value: "running" },
    { column: "scalar.accuracy.EVAL.max", operator: "between", value: "-1e-7 0.5" },
    { column: "steps", operator: "not between", value: "1 2" },
    { column: "config.batch size", operator: "not in", value: "4, 9" },
    { column: "name", operator: "!=", value: "a < b" },
  ];
  it.each(conditions)("reads back what it wrote: $column $operator $value", (condition) => {
    expect(readCondition(conditionText(condition))).toEqual(condition);
  });
  it("takes marks without gaps, and two equals signs for one", () => {
    expect(readCondition("config.lr<1e-3")).toEqual({ column: "config.lr", operator: "<", value: "1e-3" });
    expect(readCondition("state == 'running'")).toEqual({ column: "state", operator: "=", value: "'running'" });
  });
  it("understands a column whose name holds an operator, where it is known", () => {
    expect(readCondition("config.a=b > 3", ["config.a", "config.a=b"])).toEqual({ column: "config.a=b", operator: ">", value: "3" });
  });
  it.each(["", "state", "state =", "= 3", "two words", "a >= 3", "a <= 3", "a <> 3"])("does not read %j", (text) => {
    expect(readCondition(text)).toBeNull();
  });
});

it("keeps quotes and gaps that belong to a value", () => {
  expect(exactly("plain")).toBe("plain");
  expect(exactly("it's")).toBe("it's");
  expect(exactly("'quoted'")).toBe("\"'quoted'\"");
  expect(exactly('"quoted"')).toBe("'\"quoted\"'");
  expect(exactly(" room ")).toBe('" room "');
});

it("has a condition once", () => {
  expect(withCondition(["a = 1"], "a = 1")).toEqual(["a = 1"]);
  expect(withCondition(["a = 1"], "b = 1")).toEqual(["a = 1", "b = 1"]);
});

describe("replacing", () => {
  const between: Condition = { column: "a", operator: "between", value: "2 3" };
  it("moves a condition of the same column and operator", () => {
    expect(replacing(["a between 1 2", "a > 0", "b between 1 2"], between, "a", "between")).toEqual(["a > 0", "b between 1 2", "a between 2 3"]);
  });
  it("takes it away", () => {
    expect(replacing(["a between 1 2"], null, "a", "between")).toEqual([]);
  });
});
