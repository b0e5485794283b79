import { describe, expect, it } from "vitest";
import { keysOf, missingOf, ranksOf, recoded, valueAt, type CodedColumn, type NumberColumn } from "./columns";

const label: CodedColumn = { kind: "category", name: "label", codes: Int32Array.of(1, 0, -1, 2), names: ["10", "9", "cat"] };
const loss: NumberColumn = { kind: "number", name: "loss", values: Float32Array.of(1, NaN, 3, 4) };

describe("columns", () => {
  it("counts what has no value", () => {
    expect([missingOf(label), missingOf(loss)]).toEqual([1, 1]);
  });
  it("sorts names as people do: 9 before 10", () => {
    expect([...ranksOf(["10", "9", "cat"])]).toEqual([1, 0, 2]);
  });

  it("has keys to sort by, and none where a value is missing", () => {
    expect([...keysOf(label)]).toEqual([0, 1, NaN, 2]);
    expect(keysOf(loss)).toBe(loss.values);
  });

  it("gives the names of two columns the same codes", () => {
    const same = recoded(label, ["9", "10"]);
    expect(same.names).toEqual(["9", "10", "cat"]);
    expect([...same.codes]).toEqual([0, 1, -1, 2]);
  });

  it("says what a point has", () => {
    expect(valueAt(label, 0)).toBe("9");
    expect(valueAt(label, 2)).toBeNull();
    expect(valueAt(loss, 0)).toBe(1);
    expect(valueAt(loss, 1)).toBeNull();
    expect(valueAt(loss, 9)).toBeNull();
  });
});
