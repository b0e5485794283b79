import { describe, expect, it } from "vitest";
import { DIMMED, SHOWN } from "../../../map/types";
import { flipColours, flipFlags, FLIPS, fourFields, insignificant, regionLabels, showOf, sides } from "./flips";

const codes = Int32Array.from([0, 1, 2, 3, 4]);

describe("what is drawn how", () => {
  it("shows what flipped and dims the rest", () => {
    expect([...flipFlags(codes, "all")]).toEqual([DIMMED, SHOWN, SHOWN, DIMMED, DIMMED]);
  });
  it("dims everything but what got worse where only that is wanted", () => {
    expect([...flipFlags(codes, "worse")]).toEqual([DIMMED, DIMMED, SHOWN, DIMMED, DIMMED]);
  });
  it("has a colour for each of them in both themes", () => {
    for (const theme of ["light", "dark"] as const) expect(new Set(flipColours(theme)).size).toBe(FLIPS.length);
  });
  it("takes a word that it does not know for all", () => {
    expect(showOf("nonsense")).toBe("all");
    expect(showOf("worse")).toBe("worse");
  });
});

describe("what is said", () => {
  it("names the four fields in one order, those that are missing with none", () => {
    expect(fourFields({ worse: 3, "both right": 5 }).map((one) => one.count)).toEqual([5, 3, 0, 0]);
  });
  it("names regions that were found, of the kind that is wanted, in their middle", () => {
    const region = { flip: "worse", x: 1, y: 2, width: 2, height: 4, count: 10, flips: 6, expected: 1, p: 0.001, found: true };
    const regions = [region, { ...region, found: false }, { ...region, flip: "better" }];
    expect(regionLabels(regions, "worse")).toEqual([{ x: 1, y: 2, text: "6 of 10 worse" }]);
    expect(regionLabels(null, "all")).toEqual([]);
  });
});

describe("which of two runs comes first", () => {
  it("is the baseline, else the first, unless somebody chose", () => {
    expect(sides(["a", "b"], null, null, null)).toEqual(["a", "b"]);
    expect(sides(["a", "b"], "b", null, null)).toEqual(["b", "a"]);
    expect(sides(["a", "b", "c"], "b", "c", "a")).toEqual(["c", "a"]);
  });
  it("needs two, and takes no run for both sides", () => {
    expect(sides(["a"], null, null, null)).toBeNull();
    expect(sides(["a", "b"], null, "b", "b")).toEqual(["b", "a"]);
  });
});

describe("a change of the accuracy that may be none", () => {
  const row = (change: number, low: number | null, high: number | null) => ({ accuracy: { before: 0.9, after: 0.9 + change, change, low, high, p: 0.5 } });
  it("is said with its interval, in points", () => {
    expect(insignificant(row(0.009, -0.03, 0.049))).toBe("Accuracy +0.9 points [−3.0, +4.9]: not significant.");
  });
  it("is not said where it is surely one, or where nothing is known", () => {
    expect([row(0.009, 0.001, 0.02), row(-0.1, -0.2, -0.05), row(0.1, null, null), { accuracy: null }].map(insignificant)).toEqual(["", "", "", ""]);
  });
});
