import { describe, expect, it } from "vitest";
import { acceptOf, fileText, layersLike, parameterText, shapeText, sizeText, tensorText } from "./words";

const layer = (name: string, kind = "Conv", parameters: number | null = null) => ({ name, kind, shape: [null, 8], parameters, latent: false });

describe("shapes", () => {
  it("say where any length will do", () => {
    expect(shapeText([null, 28, 28, 1])).toBe("any × 28 × 28 × 1");
    expect(shapeText([])).toBe("one number");
    expect(tensorText({ name: "x", shape: [2], dtype: "float32" })).toBe("x: float32 2");
  });
});

describe("sizes", () => {
  it("have the unit that suits", () => expect([12, 1234, 56_789, 999_950, 3_000_000_000, null].map(sizeText)).toEqual(["12 B", "1.2 kB", "57 kB", "1.0 MB", "3.0 GB", "size not known"]));
});

describe("layers", () => {
  it("are found by name and kind", () => {
    expect(layersLike([layer("conv1"), layer("head", "Linear")], "LIN").map((one) => one.name)).toEqual(["head"]);
    expect(layersLike([layer("a")], "")).toHaveLength(1);
  });
  it("are counted together", () => {
    expect(parameterText([layer("a", "x", 900), layer("b", "x", 24)])).toBe("924 parameters");
    expect(parameterText([layer("a", "x", 5), layer("b")])).toBe("5 parameters in the layers that say so");
    expect(parameterText([layer("a")])).toBe("");
  });
});

describe("files", () => {
  it("say whether the run has them", () => expect(fileText({ name: "m.onnx", format: "onnx", bytes: 1, kept: false, digest: "" })).toContain("no copy"));
  it("that can be tried are known by kind and ending", () => expect(acceptOf(["image", "npy"])).toBe("image/*,.npy"));
});
