import { describe, expect, it } from "vitest";
import { BLANK, BROKEN } from "../../../lib/stripes";
import { gridOf, pageRows, placeIn, valueLevels } from "./values";

describe("values as a picture", () => {
  it("a matrix keeps its shape", () => {
    expect(gridOf([3, 4])).toMatchObject({ rows: 3, columns: 4, cut: false });
  });
  it("more axes lie behind one another", () => {
    expect(gridOf([8, 3, 5, 5])).toMatchObject({ rows: 8, columns: 75, sentence: "8 rows of 3 × 5 × 5" });
  });
  it("a vector is one row while it is short, and nearly square when it is long", () => {
    expect(gridOf([10])).toMatchObject({ rows: 1, columns: 10 });
    expect(gridOf([1000])).toMatchObject({ rows: 32, columns: 32 });
    expect(gridOf([])).toMatchObject({ rows: 1, columns: 1 });
  });
  it("what is too large is cut, and that is said", () => {
    expect(gridOf([1000, 1000], 50_000)).toMatchObject({ rows: 50, columns: 1000, cut: true });
    expect(gridOf([2, 1_000_000], 10_000)).toMatchObject({ rows: 100, columns: 100, cut: true });
  });
  it("zero is in the middle, one outlier does not hide the rest, and NaN has its own level", () => {
    const values = new Float64Array(1000).fill(1);
    values[0] = 1e9;
    values[1] = NaN;
    values[2] = 0;
    values[3] = -1;
    const { cells, limit, beyond } = valueLevels(values, 1001);
    expect([limit, beyond]).toEqual([1, 1]);
    expect([cells[0], cells[1], cells[2], cells[3], cells[1000]]).toEqual([255, BROKEN, 128, 0, BLANK]);
  });
  it("nothing but NaN is no error", () => {
    expect(valueLevels(Float64Array.from([NaN]), 1).cells[0]).toBe(BROKEN);
  });
});

describe("values as a table", () => {
  it("each row begins with the place of its first value", () => {
    const rows = pageRows(Float64Array.from({ length: 13 }, (_, i) => i), [5, 4], 1);
    expect(rows.map((row) => [row.place, row.values.length])).toEqual([["[0, 1]", 10], ["[2, 3]", 3]]);
  });
  it("a place counts the last axis fastest", () => {
    expect([placeIn([2, 3], 5), placeIn([], 0), placeIn([7], 6)]).toEqual(["[1, 2]", "[]", "[6]"]);
  });
});
