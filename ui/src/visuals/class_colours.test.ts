import { describe, expect, it } from "vitest";
import { classColour, classCounts, maskPixels } from "./class_colours";

describe("classColour", () => {
  it("is another one for each of the first 40 classes, within what a byte holds", () => {
    const all = Array.from({ length: 40 }, (_, i) => classColour(i));
    expect(new Set(all.map(String)).size).toBe(40);
    expect(all.flat().every((one) => one >= 0 && one <= 255 && Number.isInteger(one))).toBe(true);
  });
});

describe("a mask", () => {
  it("is counted by class", () => expect(classCounts([0, 2, 2, 1], 4)).toEqual([1, 1, 2, 0]));
  it("is drawn whole, or one class of it", () => {
    const alphas = (only: number | null): number[] => [3, 7].map((i) => maskPixels([0, 1], 1, 2, only).bytes[i]!);
    expect(alphas(null)).toEqual([255, 255]);
    expect(alphas(1)).toEqual([0, 255]);
  });
  it("that does not fit its image is not drawn", () => expect(maskPixels([0, 1, 1], 1, 2, null).width).toBe(0));
});
