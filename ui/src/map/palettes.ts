// The map's colours of numbers, and of numbers with a sign, made for either theme. Every one stands out from the map's ground
// (3 to 1). Those of kinds are in lib/class_colours.ts. Knows no canvas.

import { fromOklab, mixed, rgbOf, toOklab, type Lab } from "../lib/colour";
import type { Theme } from "../lib/theme.svelte";

/** Codes of numbers: so many steps, and one more for what is missing. */
export const STEPS = 255;
export const MISSING_CODE = STEPS;

export const GROUND: Record<Theme, string> = { light: "#ffffff", dark: "#141b21" };
const MISSING: Record<Theme, string> = { light: "#87919b", dark: "#6d7a86" };
// From what recedes to what stands out; lightness goes one way.
const ORDERED: Record<Theme, readonly string[]> = {
  light: ["#c27c00", "#cb5a38", "#b0346f", "#742793", "#2b1570"],
  dark: ["#5763cc", "#a85ad0", "#e0679a", "#f59a62", "#f7e07a"],
};
const SIGNED: Record<Theme, readonly string[]> = {
  light: ["#0b3d91", "#3f7fd0", "#87919b", "#d0742a", "#8a3300"],
  dark: ["#9ed0ff", "#5a9be0", "#75818c", "#d98a3f", "#ffd08a"],
};
// The first points are a fair sample: quantiles of so many are near enough for a colour or a size.
const SAMPLE = 50_000;

/** The colour of what has no value. */
export function missingColour(theme: Theme): string {
  return MISSING[theme];
}

/** `STEPS` colours from little to much, and that of what is missing. */
export function continuousPalette(theme: Theme): string[] {
  return [...ramp(ORDERED[theme]), MISSING[theme]];
}

/** `STEPS` colours from below to above a middle, and that of what is missing. */
export function divergingPalette(theme: Theme): string[] {
  return [...ramp(SIGNED[theme]), MISSING[theme]];
}

export interface NumberScale {
  min: number;
  max: number;
  scale: "linear" | "log" | "quantile";
}

type Numbers = ArrayLike<number>;

/** Where numbers lie on a palette of `STEPS`; `MISSING_CODE` for what is no number. What is beyond an end has the end's colour. */
export function codesOfNumbers(values: Numbers, { min, max, scale }: NumberScale): Uint16Array {
  if (scale === "quantile") return codesByRank(values);
  const codes = new Uint16Array(values.length);
  const log = scale === "log";
  // A logarithm needs a smallest number above 0: what is at or below it has the lowest colour.
  const low = log ? Math.log(min > 0 ? min : smallestAbove(values, max)) : min;
  const range = (log ? Math.log(max) : max) - low;
  for (let i = 0; i < codes.length; i++) {
    const value = values[i]!;
    if (value !== value) codes[i] = MISSING_CODE;
    else {
      const place = range > 0 ? ((log ? Math.log(value) : value) - low) / range : 0;
      codes[i] = place > 0 ? Math.min(STEPS - 1, Math.floor(place * STEPS)) : 0;
    }
  }
  return codes;
}

/** Sizes from 0 to 255 by number: from the first to the 99th hundredth, so that one giant does not make dwarfs of all. */
export function sizesOf(values: Numbers): Uint8Array {
  const known = sortedSample(values);
  const low = quantile(known, 0.01), high = quantile(known, 0.99);
  const sizes = new Uint8Array(values.length);
  const per = high > low ? 255 / (high - low) : 0;
  for (let i = 0; i < sizes.length; i++) {
    const size = (values[i]! - low) * per;
    // NaN is not above 0: what is missing is small.
    sizes[i] = size > 0 ? Math.min(255, Math.round(size)) : 0;
  }
  return sizes;
}

/** How well two colours (`#rrggbb`) can be told apart by lightness alone: 1 for not at all, 21 for black on white. */
export function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function ramp(stops: readonly string[]): string[] {
  const places = stops.map((colour) => toOklab(rgbOf(colour)));
  // Steps are even to the eye: by the way between the stops, not by their number.
  const lengths = places.slice(1).map((place, i) => Math.hypot(...place.map((one, axis) => one - places[i]![axis]!)));
  const whole = lengths.reduce((sum, one) => sum + one, 0);
  return Array.from({ length: STEPS }, (_, i) => {
    let along = (i / (STEPS - 1)) * whole, at = 0;
    while (at < lengths.length - 1 && along > lengths[at]!) along -= lengths[at++]!;
    return hexOf(mixed(places[at]!, places[at + 1]!, Math.min(1, along / lengths[at]!)));
  });
}

function hexOf(colour: Lab): string {
  return `#${fromOklab(colour).map((one) => one.toString(16).padStart(2, "0")).join("")}`;
}

function luminance(colour: string): number {
  const [red, green, blue] = rgbOf(colour).map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** By rank: each colour is had by about as many. */
function codesByRank(values: Numbers): Uint16Array {
  const known = sortedSample(values);
  const codes = new Uint16Array(values.length);
  for (let i = 0; i < codes.length; i++) {
    const value = values[i]!;
    codes[i] = value !== value ? MISSING_CODE : Math.min(STEPS - 1, Math.floor((below(known, value) / Math.max(1, known.length)) * STEPS));
  }
  return codes;
}

function below(sorted: Float64Array, value: number): number {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sortedSample(values: Numbers): Float64Array {
  const count = Math.min(values.length, SAMPLE);
  const known = new Float64Array(count);
  let kept = 0;
  for (let i = 0; i < count; i++) if (Number.isFinite(values[i]!)) known[kept++] = values[i]!;
  return known.subarray(0, kept).sort();
}

function quantile(sorted: Float64Array, part: number): number {
  return sorted.length ? sorted[Math.round(part * (sorted.length - 1))]! : 0;
}

function smallestAbove(values: Numbers, max: number): number {
  let found = max;
  for (let i = 0; i < values.length; i++) if (values[i]! > 0 && values[i]! < found) found = values[i]!;
  return found > 0 ? found : 1;
}
