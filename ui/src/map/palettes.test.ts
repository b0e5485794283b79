import { describe, expect, it } from "vitest";
import { CLASS_COLOURS } from "../lib/class_colours";
import { lightness, rgbOf, toOklab } from "../lib/colour";
import {
  codesOfNumbers, continuousPalette, contrast, divergingPalette, GROUND, missingColour, MISSING_CODE, sizesOf, STEPS,
} from "./palettes";

const THEMES = ["light", "dark"] as const;

function away(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...a.map((one, i) => one - b[i]!));
}

describe.each(THEMES)("palettes on %s", (theme) => {
  it("stand out from the ground", () => {
    const all = [...CLASS_COLOURS, ...continuousPalette(theme), ...divergingPalette(theme), missingColour(theme)];
    const worst = Math.min(...all.map((colour) => contrast(colour, GROUND[theme])));
    expect(worst).toBeGreaterThanOrEqual(3);
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
