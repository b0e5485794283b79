import { describe, expect, it } from "vitest";
import { conditionText, readCondition, typedValue, withCondition, type Condition } from "./conditions";

describe("readCondition", () => {
  const conditions: Condition[] = [
    { column: "config.lr", operator: "<", value: 0.1 },
    { column: "state", operator: "==", value: "running" },
    { column: "name", operator: "!=", value: "it's a \\ \"name\"" },
    { column: "config.augment", operator: "==", value: true },
    { column: "scalar.accuracy.EVAL.max", operator: ">=", value: -1e-7 },
    { column: "name", operator: "==", value: "a < b" },
  ];
  it.each(conditions)("reads back what it wrote: $column $operator $value", (condition) => {
    expect(readCondition(conditionText(condition))).toEqual(condition);
  });
  it("takes conditions without gaps, with one equals sign, and bare words", () => {
    expect(readCondition("config.lr<=1e-3")).toEqual({ column: "config.lr", operator: "<=", value: 0.001 });
    expect(readCondition("state = running")).toEqual({ column: "state", operator: "==", value: "running" });
  });
  it.each(["", "state", "state ==", "== 3", "state == 'run", "two words"])("does not read %j", (text) => {
    expect(readCondition(text)).toBeNull();
  });
});

describe("typedValue", () => {
  it("keeps a number of a text column a text", () => {
    expect(typedValue(" 12 ", "text")).toBe("12");
  });
  it("reads numbers and flags", () => {
    expect(typedValue("1e-3", "number")).toBe(0.001);
    expect(typedValue("true", "flag")).toBe(true);
  });
  it("takes the quotes that somebody typed off", () => {
    expect(typedValue("'running'", "text")).toBe("running");
  });
});

it("has a condition once", () => {
  expect(withCondition(["a == 1"], "a == 1")).toEqual(["a == 1"]);
  expect(withCondition(["a == 1"], "b == 1")).toEqual(["a == 1", "b == 1"]);
});
