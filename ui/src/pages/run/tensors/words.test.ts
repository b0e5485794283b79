import { describe, expect, it } from "vitest";
import { queryText } from "../../../lib/address";
import type { Stripes } from "../../../lib/stripes";
import { brokenText, cellText, changed, legendText, savingLine, statisticsOf } from "./words";

const stripes: Stripes = {
  tensors: ["fc1.weight"], layers: ["fc1"], approximate: "", steps: [0, 10, 11, 12], columns: 3,
  last: Float32Array.from([2, 5, NaN]), min: Float32Array.from([1, 5, NaN]), max: Float32Array.from([3, 5, NaN]),
  nonfinite: Float32Array.from([0, 4, NaN]),
};

describe("words about tensors", () => {
  it("a cell tells its steps, its last value and its extremes", () => {
    expect(cellText(stripes, 0, 0)).toBe("fc1.weight · steps 0 to 9 · last 2, min 1, max 3");
  });
  it("a cell of one step has one value and says what was not finite", () => {
    expect(cellText(stripes, 0, 1)).toBe("fc1.weight · step 10 · 5 · 4 not finite");
  });
  it("a cell without data says so", () => {
    expect(cellText(stripes, 0, 2)).toContain("nothing recorded");
  });
  it("the ends of a legend are numbers with what they mean", () => {
    expect(legendText({ kind: "times", value: 4 }, "l2")).toBe("× 4");
    expect(legendText({ kind: "apart", value: -3 }, "mean")).toBe("− 3 spreads");
    expect(legendText({ kind: "median", value: 0 }, "l2")).toBe("own median");
  });
  it("what is broken is told with its share and since when; nothing is told of what is not", () => {
    expect(brokenText(5, 20, 7)).toBe("5 of 20 values (25 %) are not finite; the first ones came at step 7.");
    expect(brokenText(0, 20, null)).toBe("");
  });
  it("the line that saves a tensor names its collection, or the tensor where it has none", () => {
    expect(savingLine({ name: "a", collections: ["weights"] })).toContain('include_collections=["weights"]');
    expect(savingLine({ name: "a.b", collections: [] })).toContain('include_regex=r"^a\\.b$"');
  });
  it("only statistics that a run has can be chosen, in a fixed order", () => {
    expect(statisticsOf(["mean", "l2"])).toEqual(["l2", "mean"]);
    expect(statisticsOf([]).length).toBeGreaterThan(5);
  });
  it("a link keeps the rest of the query", () => {
    expect(queryText(changed(new URLSearchParams("stat=l2&name=a"), { name: "b" }))).toBe("?stat=l2&name=b");
  });
});
