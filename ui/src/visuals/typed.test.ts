import { describe, expect, it } from "vitest";
import { kindOf, pictureOf } from "./typed";

const image = { dtype: "uint8", shape: [1, 1, 1], data: "AA==", scale: [0, 255] };

describe("kindOf", () => {
  it("knows the types and refuses what lacks its fields", () => {
    expect(kindOf("Image", { image })?.type).toBe("Image");
    expect(kindOf("Image", {})).toBeNull();
    expect(kindOf("ImageMask", { image, mask: null, labels: [] })).toBeNull();
    expect(kindOf("constructor", {})).toBeNull();
  });
});

describe("pictureOf", () => {
  it("is what a heat map lies over", () => {
    expect(pictureOf(kindOf("Image", { image }))).toBe(image);
    expect(pictureOf(kindOf("Text", { tokens: [] }))).toBeNull();
    expect(pictureOf(null)).toBeNull();
  });
});
