// Colours for the classes of a mask. The first eight are apart for everybody; later ones go round the circle of hues.

import { rgbOf, type Rgb } from "../lib/colour";
import { NO_PIXELS, type Pixels } from "./pixels";

const FIRST = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442", "#8a63d2"].map(rgbOf);
const GOLDEN = 137.508;

export function classColour(index: number): Rgb {
  const known = FIRST[index];
  if (known) return known;
  const hue = (index * GOLDEN) % 360;
  const light = index % 2 ? 0.45 : 0.62;
  const part = (shift: number): number => {
    const k = (shift + hue / 30) % 12;
    const most = 0.65 * Math.min(light, 1 - light);
    return Math.round(255 * (light - most * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

/** How many places each class has. */
export function classCounts(mask: ArrayLike<number>, classes: number): number[] {
  const found = new Array<number>(classes).fill(0);
  for (let i = 0; i < mask.length; i++) if (mask[i]! < classes) found[mask[i]!]! += 1;
  return found;
}

/** A mask as pixels: one class alone where `only` names it, all of them where it is null. */
export function maskPixels(mask: ArrayLike<number>, height: number, width: number, only: number | null): Pixels {
  if (mask.length !== height * width || mask.length === 0) return NO_PIXELS;
  const bytes = new Uint8ClampedArray(mask.length * 4);
  for (let i = 0; i < mask.length; i++) {
    if (only !== null && mask[i] !== only) continue;
    bytes.set(classColour(mask[i]!), i * 4);
    bytes[i * 4 + 3] = 255;
  }
  return { width, height, bytes };
}
