import { describe, expect, it } from "vitest";
import { boxFacts, cornersOf, isTruth, labelPlace, type Box } from "./boxes";

const box = (given: Partial<Box> = {}): Box => ({ x: 0.5, y: 0.5, width: 0.5, height: 0.25, confidence: 1, rotation: 0, label: "cat", metadata: {}, ...given });
const rounded = (found: readonly (readonly number[])[]): number[][] => found.map((one) => one.map((value) => Math.round(value)));

describe("cornersOf", () => {
  it("are around the centre", () => expect(cornersOf(box(), 200, 80)).toEqual([[50, 30], [150, 30], [150, 50], [50, 50]]));
  it("turn clockwise in pixels and keep their lengths", () => {
    expect(rounded(cornersOf(box({ rotation: 90 }), 200, 80))).toEqual([[110, -10], [110, 90], [90, 90], [90, -10]]);
  });
});

describe("isTruth", () => {
  it("goes by what the box says of itself", () => {
    expect([box({ metadata: { truth: true } }), box({ metadata: { kind: "Ground truth" } }), box({ metadata: { source: "gt" } })].every(isTruth)).toBe(true);
    expect([box(), box({ metadata: { kind: "prediction" } }), box({ metadata: { truth: "no" } })].some(isTruth)).toBe(false);
  });
});

describe("labelPlace", () => {
  it("is above, and inside at the upper edge", () => {
    expect(labelPlace([[50, 30], [150, 50]], 40, 14, 200)).toEqual([50, 16]);
    expect(labelPlace([[-5, 4], [150, 50]], 40, 14, 200)).toEqual([0, 4]);
    expect(labelPlace([[190, 30], [220, 50]], 40, 14, 200)).toEqual([160, 16]);
  });
});

describe("boxFacts", () => {
  it("say the rest, not once more that it is the truth", () => {
    expect(boxFacts(box({ metadata: { kind: "truth", area: 12 } }))).toBe("area 12");
    expect(boxFacts(box({ metadata: { kind: "dog", area: 12 } }))).toBe("kind dog, area 12");
  });
});
