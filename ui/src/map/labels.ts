// Which names on the map are written, and where: those that come first win, and none lies over another.

import { cutMiddle } from "../lib/cut_middle";
import type { Size } from "./camera";

export interface Written {
  text: string;
  left: number;
  top: number;
}

const LONGEST = 28;
const BETWEEN = 3;

/** A name that is not longer than the map has room for. */
export function shortened(text: string): string {
  return cutMiddle(text.replace(/\s+/g, " ").trim(), LONGEST);
}

/** The names that fit, centred on their places: `wanted` in the order of their weight, `widthOf` by the font. */
export function withoutOverlaps(wanted: readonly Written[], size: Size, height: number, widthOf: (text: string) => number): Written[] {
  const taken: { left: number; right: number; top: number; bottom: number }[] = [];
  const found: Written[] = [];
  for (const { text, left, top } of wanted) {
    const half = widthOf(text) / 2 + BETWEEN, up = height / 2 + BETWEEN / 2;
    const box = { left: left - half, right: left + half, top: top - up, bottom: top + up };
    const outside = box.left < 0 || box.right > size.width || box.top < 0 || box.bottom > size.height;
    if (!text || outside || taken.some((one) => one.left < box.right && box.left < one.right && one.top < box.bottom && box.top < one.bottom)) continue;
    taken.push(box);
    found.push({ text, left, top });
  }
  return found;
}
