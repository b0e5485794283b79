import { describe, expect, it } from "vitest";
import { sanityMarks, sanitySpan } from "./sanity";

const sanity = { deletion: 0.2, random_best: 0.4, random_median: 0.6, magnitude: null, random_weights: 1.3, verdict: "better" as const, sentence: "", notes: [] };

describe("sanity", () => {
  it("has a mark for each figure that is known", () => expect(sanityMarks(sanity).map((one) => one.value)).toEqual([0.2, 0.4, 0.6, 1.3]));
  it("goes from 0 to 1, and further where figures do", () => {
    expect(sanitySpan(sanityMarks(sanity))).toEqual({ low: 0, high: 1.3 });
    expect(sanitySpan([])).toEqual({ low: 0, high: 1 });
  });
});
