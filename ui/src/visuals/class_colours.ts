// The classes of a mask as pixels, and colours of labels that have no place among classes.

import { classColour, isTriangle } from "../lib/class_colours";
import { rgbOf } from "../lib/colour";
import { NO_PIXELS, type Pixels } from "./pixels";

/** The colour of a label that has no index: the same in every picture, here and in those that the library draws. */
export function labelColour(label: string): string {
  return classColour(checksum(new TextEncoder().encode(label)));
}

/** CRC-32, as zlib has it. */
export function checksum(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** How many places each class has. */
export function classCounts(mask: ArrayLike<number>, classes: number): number[] {
  const found = new Array<number>(classes).fill(0);
  for (let i = 0; i < mask.length; i++) if (mask[i]! < classes) found[mask[i]!]! += 1;
  return found;
}

// Of so many pixels along a diagonal one is left out where a class has the second mark.
const STRIPE = 3;

/** A mask as pixels: one class alone where `only` names it, all of them where it is null. Second marks are striped. */
export function maskPixels(mask: ArrayLike<number>, height: number, width: number, only: number | null): Pixels {
  if (mask.length !== height * width || mask.length === 0) return NO_PIXELS;
  const bytes = new Uint8ClampedArray(mask.length * 4);
  for (let i = 0; i < mask.length; i++) {
    if (only !== null && mask[i] !== only) continue;
    if (isTriangle(mask[i]!) && ((i % width) + Math.floor(i / width)) % STRIPE === 0) continue;
    bytes.set(rgbOf(classColour(mask[i]!)), i * 4);
    bytes[i * 4 + 3] = 255;
  }
  return { width, height, bytes };
}
