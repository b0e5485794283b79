import { describe, expect, it } from "vitest";
import { checksum, classCounts, labelColour, maskPixels } from "./class_colours";

describe("labelColour", () => {
  it("goes by the checksum that the library takes", () => {
    expect(checksum(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
    expect(labelColour("car")).toBe(labelColour("car"));
  });
});

describe("a mask", () => {
  it("is counted by class", () => expect(classCounts([0, 2, 2, 1], 4)).toEqual([1, 1, 2, 0]));
  it("is drawn whole, or one class of it", () => {
    const alphas = (only: number | null): number[] => [3, 7].map((i) => maskPixels([0, 1], 1, 2, only).bytes[i]!);
    expect(alphas(null)).toEqual([255, 255]);
    expect(alphas(1)).toEqual([0, 255]);
  });
  it("has stripes where a class has the second mark", () => {
    const alphas = (mask: number[]): number[] => [3, 7, 11, 15].map((i) => maskPixels(mask, 1, 4, null).bytes[i]!);
    expect(alphas([9, 9, 9, 9])).toEqual([255, 255, 255, 255]);
    expect(alphas([10, 10, 10, 10])).toEqual([0, 255, 255, 0]);
  });
  it("that does not fit its image is not drawn", () => expect(maskPixels([0, 1, 1], 1, 2, null).width).toBe(0));
});
