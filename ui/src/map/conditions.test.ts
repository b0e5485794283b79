import { describe, expect, it } from "vitest";
import cases from "./conditions.cases.json";
import type { CodedColumn, NumberColumn } from "./columns";
import { ConditionError, holds, isAnyOf, numberOf, parseCondition, printCondition } from "./conditions";
import { together } from "./counting";
import { didYouMean, likeness, nearest } from "./conditions_nearest";

const loss: NumberColumn = { kind: "number", name: "loss", values: Float32Array.of(0.1, 1.5, NaN, 2) };
const label: CodedColumn = { kind: "category", name: "label", codes: Int32Array.of(0, 1, -1, 0), names: ["4", "9"] };
const correct: CodedColumn = { kind: "yes-or-no", name: "correct", codes: Int32Array.of(0, 1, -1, 1), names: ["false", "true"] };

const mask = (column: NumberColumn | CodedColumn, text: string): number[] => [...holds(column, parseCondition(text, [column.name]))];

describe("parsing a condition", () => {
  it("knows signs, words and clusters", () => {
    expect(parseCondition("label = 4")).toEqual({ column: "label", operator: "equal", values: ["4"] });
    expect(parseCondition("loss>1.5")).toEqual({ column: "loss", operator: "greater-than", values: ["1.5"] });
    expect(parseCondition("metadata.x NOT  between 1 and 2")).toEqual({ column: "metadata.x", operator: "not-between", values: ["1", "2"] });
    expect(parseCondition('label in 4, "a,b" ,"say ""x"""')).toEqual({ column: "label", operator: "in", values: ["4", "a,b", 'say "x"'] });
    expect(parseCondition("label in ('4', 9)").values).toEqual(["4", "9"]);
    expect(parseCondition("label in [4]").values).toEqual(["4"]);
    expect(parseCondition("label in (a), (b)").values).toEqual(["(a)", "(b)"]);
    expect(parseCondition("not cluster 3,-1")).toEqual({ column: "cluster", operator: "not-cluster", values: ["3", "-1"] });
  });

  it("understands a known column whose name holds an operator", () => {
    expect(parseCondition("a > b > 3", ["a > b", "a"])).toEqual({ column: "a > b", operator: "greater-than", values: ["3"] });
    expect(parseCondition('"a in b" = 3', ["a in b"])).toEqual({ column: "a in b", operator: "equal", values: ["3"] });
  });

  it("says what is wrong, with the nearest column", () => {
    expect(() => parseCondition("lss > 1", ["loss", "label"])).toThrow("Did you mean 'loss'");
    expect(() => parseCondition("cluster = 1", ["loss"])).toThrow("Find the clusters first");
    expect(() => parseCondition("loss >= 1")).toThrow("no operator '>='");
    expect(() => parseCondition("loss")).toThrow("not a condition");
    expect(() => parseCondition("loss >")).toThrow("lacks a value");
    expect(() => parseCondition("loss between 1")).toThrow("needs two values");
    expect(() => parseCondition("label in 4,,5")).toThrow(ConditionError);
  });
});

describe("printing a condition", () => {
  it("parses back to the same", () => {
    for (const text of ["label = 4", "loss > 1.5", 'label in 4,"a,b"', "x between 1 2", "not cluster 3,4", 'name = ""', "subset not in a b,c", 'a != "x"', `between me,"and, you"`.replace("between", "t between")]) {
      const once = parseCondition(text);
      expect(parseCondition(printCondition(once), [once.column])).toEqual(once);
    }
    const odd = { column: "a > b", operator: "equal" as const, values: ["'x'"] };
    expect(parseCondition(printCondition(odd), ["a > b"])).toEqual(odd);
    const bracketed = { column: "label", operator: "in" as const, values: ["(4", "'a'", "9)"] };
    expect(parseCondition(printCondition(bracketed))).toEqual(bracketed);
    expect(isAnyOf("label", ["4"])).toBe("label = 4");
    expect(isAnyOf("label", ["4", "9"])).toBe("label in 4,9");
  });
});

describe("where a condition holds", () => {
  it("compares numbers as the column has them, and NaN with nothing", () => {
    expect(mask(loss, "loss = 0.1")).toEqual([1, 0, 0, 0]);
    expect(mask(loss, "loss between 2 1.5")).toEqual([0, 1, 0, 1]);
    expect(mask(loss, "loss not in 2,0.1")).toEqual([0, 1, 1, 0]);
    expect(mask(loss, "loss < 2")).toEqual([1, 1, 0, 0]);
    expect(() => mask(loss, "loss > high")).toThrow("holds numbers");
  });

  it("compares names, and what is missing is not any of them", () => {
    expect(mask(label, "label = 4")).toEqual([1, 0, 0, 1]);
    expect(mask(label, "label != 4")).toEqual([0, 1, 1, 0]);
    expect(mask(label, "label > 4")).toEqual([0, 1, 0, 0]);
    expect(mask(label, "label in (4,9)")).toEqual([1, 1, 0, 1]);
  });

  it("says which names there are where no sample has any of those asked for", () => {
    expect(() => mask(label, "label = 7")).toThrow("No sample has '7' in column 'label'. It holds '4', '9'.");
    expect(mask(label, "label in 4,7")).toEqual([1, 0, 0, 1]);
    expect(mask(label, "label != 7")).toEqual([1, 1, 1, 1]);
  });

  it("knows yes and no in several words", () => {
    expect(mask(correct, "correct = yes")).toEqual([0, 1, 0, 1]);
    expect(mask(correct, "correct = 0")).toEqual([1, 0, 0, 0]);
    expect(() => mask(correct, "correct = maybe")).toThrow("yes or no");
  });
});

describe("a column that the page does not hold as it is", () => {
  it("has clusters as names that are numbers", () => {
    const cluster: CodedColumn = { kind: "category", name: "cluster", codes: Int32Array.of(0, 1, 2), names: ["2", "10", "-1"] };
    expect(mask(cluster, "cluster > 2")).toEqual([0, 1, 0]);
    expect(mask(cluster, "cluster -1,10")).toEqual([0, 1, 1]);
    expect(mask(cluster, "cluster = 2.0")).toEqual([1, 0, 0]);
  });

  it("is not compared with values that came as one", () => {
    const text: CodedColumn = { kind: "text", name: "t", codes: Int32Array.of(0, 1), names: ["a", "other"], folded: true };
    expect(mask(text, "t = a")).toEqual([1, 0]);
    expect(() => mask(text, "t = b")).toThrow("too many values");
    expect(() => mask(text, "t > a")).toThrow("too many values");
  });
});

describe("numbers and names as people write them", () => {
  it("reads what the library reads", () => {
    expect([numberOf(" 1_000 "), numberOf("-.5"), numberOf("1e3"), numberOf("-inf")]).toEqual([1000, -0.5, 1000, -Infinity]);
    expect([numberOf("0x10"), numberOf(""), numberOf("nan"), numberOf("1__0")]).toEqual([NaN, NaN, NaN, NaN]);
  });

  it("finds names that are near, or begin so", () => {
    expect(likeness("loss", "loss")).toBe(1);
    expect(nearest("pred", ["prediction", "loss"])).toEqual(["prediction"]);
    expect(didYouMean("zzz", ["loss"])).toBe("");
    expect(didYouMean("val", ["training", "validation"])).toBe(" Did you mean 'validation'?");
  });
});

// The same table is held against the library's own conditions.
type Sent = { type: string; values: (number | string | boolean | null)[] };

function columnOf(name: string, { type, values }: Sent): NumberColumn | CodedColumn {
  const numbers = values.map((value) => (value === null ? NaN : Number(value)));
  if (type === "float32") return { kind: "number", name, values: Float32Array.from(numbers) };
  if (type === "float64" || type === "int64") return { kind: "number", name, values: Float64Array.from(numbers) };
  const names = [...new Set(values.filter((value) => value !== null).map(String))];
  return { kind: type === "bool" ? "yes-or-no" : "text", name, codes: Int32Array.from(values, (value) => (value === null ? -1 : names.indexOf(String(value)))), names };
}

describe("the cases that the library has too", () => {
  const columns = new Map(Object.entries(cases.columns as Record<string, Sent>).map(([name, sent]) => [name, columnOf(name, sent)]));
  const known = [...columns.keys()];
  const masksOf = (where: readonly string[]): Uint8Array[] =>
    where.map((text) => {
      const condition = parseCondition(text, known);
      const column = columns.get(condition.column);
      if (!column) throw new ConditionError(condition.column);
      return holds(column, condition);
    });

  it.each(cases.selects)("selects the same rows: $where", ({ where, rows }) => {
    const mask = together(masksOf(where)) ?? new Uint8Array(12).fill(1);
    expect([...mask.keys()].filter((row) => mask[row])).toEqual(rows);
    const printed = where.map((text) => printCondition(parseCondition(text, known)));
    const again = together(masksOf(printed)) ?? new Uint8Array(12).fill(1);
    expect([...again]).toEqual([...mask]);
  });

  it.each(cases.refuses)("refuses the same: %s", (text) => {
    expect(() => masksOf([text])).toThrow(ConditionError);
  });
});
