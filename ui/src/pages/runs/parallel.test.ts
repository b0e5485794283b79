import { describe, expect, it } from "vitest";
import { axisOf, brushCondition, brushOf, lineOf, nearestLine } from "./parallel";

const column = (name: string, kind: "number" | "text" | "flag" | "time" = "number") => ({ name, title: name, kind });

describe("axisOf", () => {
  it("places numbers from the bottom to the top", () => {
    const axis = axisOf(column("a"), [1, 3, null, 2])!;
    expect([1, 2, 3, null, NaN].map(axis.place)).toEqual([0, 0.5, 1, null, null]);
    expect(axis.value(0.25)).toBe(1.5);
  });
  it("is logarithmic where positive values span two decades", () => {
    const axis = axisOf(column("lr"), [1e-4, 1])!;
    expect(axis.log).toBe(true);
    expect(axis.place(0.01)).toBeCloseTo(0.5);
    expect(axis.place(-1)).toBeNull();
    expect(axisOf(column("lr"), [-1, 1000])!.log).toBe(false);
  });
  it("puts one value in the middle", () => {
    expect(axisOf(column("a"), [5, 5])!.place(5)).toBe(0.5);
  });
  it("places words by name", () => {
    const axis = axisOf(column("o", "text"), ["sgd", "adam", null, "sgd"])!;
    expect(axis.words).toEqual(["adam", "sgd"]);
    expect(axis.place("sgd")).toBe(1);
    expect(axis.place("lion")).toBeNull();
  });
  it("is none of nothing, or of too many words", () => {
    expect(axisOf(column("a"), [null])).toBeNull();
    expect(axisOf(column("n", "text"), Array.from({ length: 99 }, (_, i) => `n${i}`))).toBeNull();
  });
});

describe("brushCondition", () => {
  const axis = axisOf(column("a"), [0, 10])!;
  it("says the range, in both directions of the pointer", () => {
    expect(brushCondition(axis, 0.75, 0.25)).toEqual({ column: "a", operator: "between", value: "2.5 7.5" });
  });
  it("keeps the very ends inside", () => {
    const odd = axisOf(column("b"), [0.123456789, 0.987654321])!;
    expect(brushCondition(odd, -1, 2)!.value).toBe("0.123456789 0.987654321");
    const logarithmic = axisOf(column("c"), [4, 2500])!;
    expect(brushCondition(logarithmic, -1, 2)!.value).toBe("4 2500");
  });
  it("is none of a click", () => {
    expect(brushCondition(axis, 0.5, 0.5)).toBeNull();
  });
  it("names words", () => {
    const words = axisOf(column("o", "text"), ["a, b", "c", "d"])!;
    expect(brushCondition(words, 0.4, 0.6)).toEqual({ column: "o", operator: "=", value: "c" });
    expect(brushCondition(words, 0, 0.6)).toEqual({ column: "o", operator: "in", value: '"a, b", c' });
    expect(brushCondition(words, 0, 1)).toBeNull();
  });
});

it("finds its brush in the conditions of the address", () => {
  const axis = axisOf(column("a"), [0, 10])!;
  expect(brushOf(axis, ["b between 1 2", "a between 2.5 7.5"])).toEqual({ from: 0.25, to: 0.75 });
  expect(brushOf(axis, ["a between -99 5"])).toEqual({ from: 0, to: 0.5 });
  expect(brushOf(axis, ["a > 3"])).toBeNull();
});

describe("nearestLine", () => {
  const axes = [axisOf(column("a"), [0, 1])!, axisOf(column("b"), [0, 1])!];
  const lines = [lineOf(axes, () => 0), lineOf(axes, (name) => (name === "a" ? 0 : 1)), lineOf(axes, (name) => (name === "a" ? 1 : null))];
  it("takes the line under the pointer", () => {
    expect(nearestLine(lines, 0.5, 0.48, 300, 10)).toBe(1);
    expect(nearestLine(lines, 0.5, 0.01, 300, 10)).toBe(0);
  });
  it("takes none that is too far", () => {
    expect(nearestLine(lines, 0.5, 0.8, 300, 10)).toBe(-1);
  });
  it("knows a line that ends at an axis only near it", () => {
    expect(nearestLine(lines, 0.02, 1, 300, 10)).toBe(2);
    expect(nearestLine(lines, 0.5, 1, 300, 10)).toBe(-1);
  });
});
