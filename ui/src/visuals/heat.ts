// Heat maps as colours: over a picture, behind tokens, under a line. What says nothing is clear, so that the input stays
// in sight; the stronger, the less clear. Knows no canvas.

import { extremes } from "./arrays";
import { rgbOf, type Rgb } from "../lib/colour";
import { NO_PIXELS, type Pixels } from "./pixels";

/** The ends of a heat map's colours: `bound` has the strongest, in both directions where it is signed. */
export interface HeatScale {
  min: number;
  max: number;
  bound: number;
  signed: boolean;
}

export function heatScale(values: ArrayLike<number>, signed: boolean): HeatScale {
  const { min, max } = extremes(values) ?? { min: 0, max: 0 };
  const both = signed || min < 0;
  const bound = both ? Math.max(Math.abs(min), Math.abs(max)) : max;
  return { min, max, bound: Math.max(0, bound), signed: both };
}

/** One scale for maps that are shown beside each other, so that they can be compared. */
export function sharedScale(scales: readonly HeatScale[]): HeatScale {
  return {
    min: Math.min(0, ...scales.map((one) => one.min)),
    max: Math.max(0, ...scales.map((one) => one.max)),
    bound: Math.max(0, ...scales.map((one) => one.bound)),
    signed: scales.some((one) => one.signed),
  };
}

// Weak to strong. They stand out from black and from white, and from each other for people who see no red or green.
const FOR: readonly Rgb[] = ["#7b2d8e", "#c73e6b", "#f07c32", "#ffdc52"].map(rgbOf);
const AGAINST_END = rgbOf("#2f8cff");
const FOR_END = rgbOf("#ff7a1a");

/** How strong a value is from -1 to 1. */
export function strength(value: number, scale: HeatScale): number {
  // A map that says nothing at all has no strongest place.
  return Number.isFinite(value) && scale.bound > 0 ? Math.max(-1, Math.min(1, value / scale.bound)) : 0;
}

export function heatColour(value: number, scale: HeatScale): Rgb {
  const part = strength(value, scale);
  if (scale.signed) return part < 0 ? AGAINST_END : FOR_END;
  const place = Math.max(0, part) * (FOR.length - 1);
  const low = Math.min(Math.floor(place), FOR.length - 2);
  const rest = place - low;
  return [0, 1, 2].map((i) => Math.round(FOR[low]![i]! * (1 - rest) + FOR[low + 1]![i]! * rest)) as unknown as Rgb;
}

/** How little clear a value is, from 0 to 1: what is half as strong is still seen well. */
export function heatAlpha(value: number, scale: HeatScale): number {
  return Math.abs(strength(value, scale)) ** 0.7;
}

export function heatPixels(values: ArrayLike<number>, height: number, width: number, scale: HeatScale): Pixels {
  if (values.length < height * width || height * width === 0) return NO_PIXELS;
  const bytes = new Uint8ClampedArray(height * width * 4);
  for (let i = 0; i < height * width; i++) {
    const colour = heatColour(values[i]!, scale);
    bytes.set(colour, i * 4);
    bytes[i * 4 + 3] = heatAlpha(values[i]!, scale) * 255;
  }
  return { width, height, bytes };
}

/** The map's colours from its lowest to its highest value, as a gradient for a legend: over pictures, or behind text. */
export function heatGradient(scale: HeatScale, tints = false): string {
  const full: HeatScale = { ...scale, bound: 1 };
  const low = scale.signed ? -1 : 0;
  const stops = Array.from({ length: 13 }, (_, i) => {
    const value = low + (i / 12) * (1 - low);
    if (tints) return heatTint(value, full);
    const [red, green, blue] = heatColour(value, full);
    return `rgb(${red} ${green} ${blue} / ${Math.round(heatAlpha(value, full) * 100)}%)`;
  });
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/** The colour behind a token or a stretch of a line: pale enough for text to be read upon it. */
export function heatTint(value: number, scale: HeatScale): string {
  const [red, green, blue] = scale.signed ? heatColour(value, scale) : FOR_END;
  return `rgb(${red} ${green} ${blue} / ${Math.round(heatAlpha(value, scale) * 42)}%)`;
}

/** The line under a token, 0 to 4 pixels: what the tint says, for those who do not see its colour. */
export function heatLine(value: number, scale: HeatScale): number {
  return Math.round(Math.abs(strength(value, scale)) * 4);
}
