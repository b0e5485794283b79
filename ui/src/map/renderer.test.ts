import { describe, expect, it } from "vitest";
import { isSoftwareName } from "./programs";
import { diameters, placed, placesOf, rgbOf } from "./renderer";
import { fragmentShader, vertexShader } from "./shaders";
import { MARKED } from "./types";

describe("placed", () => {
  it("copies nothing where all have a place", () => {
    const points = { x: Float32Array.of(1, 2), y: Float32Array.of(3, 4) };
    expect(placed(points)).toBe(points);
  });
  it("puts what has none outside of every view, and leaves what was given as it is", () => {
    const points = { x: Float32Array.of(1, NaN, 2), y: Float32Array.of(3, 4, NaN) };
    const found = placed(points);
    expect([...found.x]).toEqual([1, Math.fround(1e20), Math.fround(1e20)]);
    expect(points.x[1]).toBeNaN();
  });
  it("lets what had none appear where it will be", () => {
    const to = { x: Float32Array.of(7, 8), y: Float32Array.of(9, 10) };
    expect(placed({ x: Float32Array.of(NaN, 1), y: Float32Array.of(0, 1) }, to)).toEqual({ x: Float32Array.of(7, 1), y: Float32Array.of(9, 1) });
  });
});

describe("diameters", () => {
  const extent = { left: 0, right: 1, bottom: 0, top: 1 };
  const frame = { view: { x: 0.5, y: 0.5, scale: 500 }, width: 600, height: 600, ratio: 2, count: 10, part: 1, background: [0, 0, 0], ink: [0, 0, 0] } as const;
  it("is one for all, or a range around it where sizes are given", () => {
    const alike = diameters({ extent, count: 60_000 }, frame, false), sized = diameters({ extent, count: 60_000 }, frame, true);
    expect(alike.range).toBe(0);
    expect(sized.smallest).toBeLessThan(alike.smallest);
    expect(sized.smallest + sized.range).toBeGreaterThan(2 * alike.smallest);
  });
  it("goes with the pixels of the screen", () => {
    const one = diameters({ extent, count: 100 }, { ...frame, ratio: 1 }, false);
    expect(diameters({ extent, count: 100 }, frame, false).smallest).toBeCloseTo(2 * one.smallest);
  });
});

describe("isSoftwareName", () => {
  it("knows processors that play a graphics card", () => {
    const software = ["ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)", "llvmpipe (LLVM 15.0.7, 256 bits)", "Microsoft Basic Render Driver"];
    expect(software.every(isSoftwareName)).toBe(true);
    expect(["ANGLE (NVIDIA, NVIDIA GeForce RTX 4090, OpenGL 4.5)", "Apple M2", "Mesa Intel(R) UHD Graphics 620", ""].some(isSoftwareName)).toBe(false);
  });
});

describe("the rest", () => {
  it("finds the places of a flag", () => {
    expect([...placesOf(Uint8Array.of(0, 3, 1, 3), MARKED)]).toEqual([1, 3]);
    expect(placesOf(Uint8Array.of(0, 1), MARKED)).toHaveLength(0);
  });
  it("reads colours", () => {
    expect(rgbOf("#0f62b5")).toEqual([15, 98, 181]);
    expect(rgbOf("#fff")).toEqual([255, 255, 255]);
    expect(rgbOf("#1a2f")).toEqual([17, 170, 34]);
    expect(rgbOf("#0f62b5cc")).toEqual([15, 98, 181]);
  });
  it("has a way between two places only in the shader that needs it", () => {
    expect(vertexShader({ round: true, moving: true })).toContain("fromX");
    expect(vertexShader({ round: true, moving: false })).not.toContain("fromX");
    expect(fragmentShader({ round: false, moving: false })).not.toContain("discard");
  });
});
