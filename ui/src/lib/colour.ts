// Colour maps: from a number between 0 and 1 to a colour, in even steps for the eye (mixed in OKLab), safe for people who
// see no difference between red and green, and made for either theme. Knows no canvas.

import type { Theme } from "./theme.svelte";

export type Rgb = readonly [number, number, number];
export const STEPS = 256;

/** What a map is for: one direction from little to much, or two away from a middle. */
export type MapKind = "ordered" | "diverging";

// From what recedes into the panel to what stands out from it: pale to dark on white, dark to bright on black.
const STOPS: Record<MapKind, Record<Theme, readonly string[]>> = {
  ordered: {
    light: ["#e9eff3", "#b9d3e0", "#7fb0c9", "#4787b5", "#2b5c9e", "#1f2f6e"],
    dark: ["#222e39", "#233f61", "#2a5d8f", "#3f8bb5", "#7dbfd0", "#e2f2e6"],
  },
  diverging: {
    light: ["#1d4f9c", "#5f97cf", "#b4d0e6", "#e6eaec", "#f3cf9b", "#d98a2b", "#8a4300"],
    dark: ["#9ed0ff", "#4a8fd1", "#2f537c", "#2a343c", "#6a4c24", "#c47a24", "#ffd08a"],
  },
};

/** What is not finite has a colour that no map holds. */
export const NONFINITE: Record<Theme, string> = { light: "#b3005e", dark: "#ff5fb0" };

const kept = new Map<string, readonly Rgb[]>();

/** The colours of a map, `STEPS` of them, from its low end to its high one. */
export function colours(kind: MapKind, theme: Theme): readonly Rgb[] {
  const key = `${kind} ${theme}`;
  const known = kept.get(key);
  if (known) return known;
  const stops = STOPS[kind][theme].map((text) => toOklab(rgbOf(text)));
  const found = Array.from({ length: STEPS }, (_, i) => {
    const place = (i / (STEPS - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    return fromOklab(mixed(stops[low]!, stops[low + 1]!, place - low));
  });
  kept.set(key, found);
  return found;
}

/** The colours as pixels of an ImageData (alpha, blue, green, red from the highest byte on). */
export function pixels(kind: MapKind, theme: Theme): Uint32Array {
  return Uint32Array.from(colours(kind, theme), pixelOf);
}

export function pixelOf([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** A CSS gradient's colours, for a legend. */
export function gradient(kind: MapKind, theme: Theme): string {
  const all = colours(kind, theme);
  const chosen = Array.from({ length: 17 }, (_, i) => all[Math.round((i / 16) * (STEPS - 1))]!);
  return `linear-gradient(to right, ${chosen.map(cssOf).join(", ")})`;
}

export function cssOf([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

export function rgbOf(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** How light a colour is to the eye, from 0 to 1. */
export function lightness(colour: Rgb): number {
  return toOklab(colour)[0];
}

export type Lab = readonly [number, number, number];

export function mixed(a: Lab, b: Lab, part: number): Lab {
  return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part];
}

export function toOklab(colour: Rgb): Lab {
  const [r, g, b] = colour.map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

export function fromOklab([lightness, a, b]: Lab): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    byteOf(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    byteOf(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    byteOf(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function byteOf(linear: number): number {
  const inside = Math.min(1, Math.max(0, linear));
  const part = inside <= 0.0031308 ? inside * 12.92 : 1.055 * inside ** (1 / 2.4) - 0.055;
  return Math.round(part * 255);
}
