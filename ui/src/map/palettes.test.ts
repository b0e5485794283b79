import { describe, expect, it } from "vitest";
import { lightness, rgbOf, toOklab, type Rgb } from "../lib/colour";
import {
  categoricalPalette, codesOfNumbers, continuousPalette, contrast, DISTINCT, divergingPalette, GROUND, missingColour, MISSING_CODE, MOST_COLOURS, paletteNote, sizesOf, STEPS,
} from "./palettes";

const THEMES = ["light", "dark"] as const;

// What people without one kind of cone see of linear light (Machado, Oliveira and Fernandes, 2009).
const SEEN = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function seen(colour: string, matrix: number[][]): readonly number[] {
  const linear = rgbOf(colour).map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
  const light = matrix.map((row) => Math.min(1, Math.max(0, row.reduce((sum, one, i) => sum + one * linear[i]!, 0))));
  return toOklab(light.map((one) => 255 * (one <= 0.0031308 ? one * 12.92 : 1.055 * one ** (1 / 2.4) - 0.055)) as unknown as Rgb);
}

function away(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...a.map((one, i) => one - b[i]!));
}

describe.each(THEMES)("palettes on %s", (theme) => {
  it("stand out from the ground", () => {
    const all = [...categoricalPalette(MOST_COLOURS, theme), ...continuousPalette(theme), ...divergingPalette(theme), missingColour(theme)];
    const worst = Math.min(...all.map((colour) => contrast(colour, GROUND[theme])));
    expect(worst).toBeGreaterThanOrEqual(3);
  });
  it.each(Object.keys(SEEN) as (keyof typeof SEEN)[])("have ten kinds that can be told apart with %s cones", (kind) => {
    const colours = categoricalPalette(DISTINCT, theme).map((colour) => seen(colour, SEEN[kind]));
    const pairs = colours.flatMap((a, i) => colours.slice(0, i).map((b) => away(a, b)));
    expect(Math.min(...pairs)).toBeGreaterThan(0.08);
  });
  it("give a thousand classes a colour each", () => {
    const colours = categoricalPalette(1000, theme);
    expect(new Set(colours).size).toBeGreaterThan(990);
    expect(colours.every((colour) => /^#[0-9a-f]{6}$/.test(colour))).toBe(true);
  });
  it("keep a class's colour when others come", () => {
    expect(categoricalPalette(300, theme).slice(0, 7)).toEqual(categoricalPalette(7, theme));
  });
  it("go one way in lightness from little to much, in even steps", () => {
    const colours = continuousPalette(theme).slice(0, STEPS);
    const light = colours.map((colour) => lightness(rgbOf(colour)));
    const sign = theme === "light" ? -1 : 1;
    // A byte of a colour is the smallest step there is.
    expect(light.slice(1).every((one, i) => sign * (one - light[i]!) > -0.006)).toBe(true);
    expect(sign * (light.at(-1)! - light[0]!)).toBeGreaterThan(0.3);
    const steps = colours.slice(8).map((colour, i) => away(toOklab(rgbOf(colour)), toOklab(rgbOf(colours[i]!))));
    expect(Math.max(...steps) / Math.min(...steps)).toBeLessThan(2);
  });
  it("have both signs stand out more than the middle", () => {
    const colours = divergingPalette(theme);
    const middle = contrast(colours[127]!, GROUND[theme]);
    expect(contrast(colours[0]!, GROUND[theme])).toBeGreaterThan(middle + 2);
    expect(contrast(colours[STEPS - 1]!, GROUND[theme])).toBeGreaterThan(middle + 2);
  });
});

describe("paletteNote", () => {
  it("says nothing of few kinds and that many look alike", () => {
    expect(paletteNote(10)).toBe("");
    expect(paletteNote(11)).toContain("11th");
    expect(paletteNote(5000)).toContain("repeat");
  });
});

describe("codesOfNumbers", () => {
  const values = Float64Array.of(0, 1, 5, 10, 12, -3, NaN, Infinity);
  it("goes from end to end", () => {
    expect([...codesOfNumbers(values, { min: 0, max: 10, scale: "linear" })]).toEqual([0, 25, 127, 254, 254, 0, MISSING_CODE, 254]);
  });
  it("takes logarithms of what is above zero", () => {
    const codes = codesOfNumbers(Float64Array.of(0.01, 1, 100, 0, -1, NaN), { min: 0.01, max: 100, scale: "log" });
    expect([...codes]).toEqual([0, 127, 254, 0, 0, MISSING_CODE]);
  });
  it("finds the lowest of a logarithm itself where zero was given", () => {
    expect([...codesOfNumbers(Float64Array.of(0, 0.01, 100), { min: 0, max: 100, scale: "log" })]).toEqual([0, 0, 254]);
  });
  it("gives each colour to as many by rank", () => {
    const many = Float32Array.from({ length: 2550 }, (_, i) => Math.exp(i / 100));
    const counts = new Uint16Array(STEPS);
    codesOfNumbers(many, { min: 0, max: 1, scale: "quantile" }).forEach((code) => counts[code]!++);
    expect(Math.min(...counts)).toBe(10);
    expect(Math.max(...counts)).toBe(10);
  });
  it("has one colour for what is all alike, and none for nothing", () => {
    expect([...codesOfNumbers(Float64Array.of(3, 3), { min: 3, max: 3, scale: "linear" })]).toEqual([0, 0]);
    expect(codesOfNumbers([], { min: NaN, max: NaN, scale: "quantile" })).toHaveLength(0);
  });
});

describe("sizesOf", () => {
  it("is not led astray by one giant", () => {
    const values = Float32Array.from({ length: 1000 }, (_, i) => i);
    values[5] = 1e9;
    const sizes = sizesOf(values);
    expect(sizes[5]).toBe(255);
    expect(sizes[500]).toBeGreaterThan(120);
    expect(sizes[500]).toBeLessThan(135);
  });
  it("makes what is missing small", () => {
    expect([...sizesOf(Float64Array.of(NaN, 1, 2))]).toEqual([0, 0, 255]);
  });
  it("draws all alike where all are, or none is known", () => {
    expect([...sizesOf(Float64Array.of(2, 2))]).toEqual([0, 0]);
    expect([...sizesOf(Float64Array.of(NaN))]).toEqual([0]);
  });
});
