import { describe, expect, it } from "vitest";
import { decoded, type ArrayData } from "./arrays";
import cases from "./typed.cases.json";
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

describe("what the library sends", () => {
  // A test of the library holds these cases to what it sends.
  it.each(cases.map((data) => [data.type, data as Record<string, unknown>] as const))("%s is known, and its arrays can be read", (type, data) => {
    expect(kindOf(type, data)?.type).toBe(type);
    const arrays = Object.values(data).filter((one): one is ArrayData => typeof one === "object" && one !== null && "dtype" in one);
    for (const array of arrays) expect(decoded(array).values.length).toBe(array.shape.reduce((all, one) => all * one, 1));
    expect(arrays.every((one) => decoded(one).values.length > 0)).toBe(true);
  });
});
