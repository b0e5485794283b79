// Images as pixels of a canvas (RGBA bytes). Knows no canvas.

import type { ArrayData, Values } from "./arrays";

/** An image with the values that are shown black and white. */
export interface ImageArray extends ArrayData {
  scale: [number, number];
}

export interface Pixels {
  width: number;
  height: number;
  bytes: Uint8ClampedArray<ArrayBuffer>;
}

export const NO_PIXELS: Pixels = { width: 0, height: 0, bytes: new Uint8ClampedArray(0) };

/** An image [H, W, C] or [H, W]: one channel is grey, three are red, green and blue, a fourth is alpha. Of two the first
 * is shown, of more than four the first three. What is not a number is magenta, which few pictures hold. */
export function imagePixels({ values, shape }: Values, [black, white]: readonly [number, number], frame = 0): Pixels {
  const rank = shape.length;
  const [height = 0, width = 0, channels = 1] = rank === 4 ? shape.slice(1) : rank === 2 || rank === 3 ? shape : [];
  if (height * width === 0 || values.length === 0) return NO_PIXELS;
  const bytes = new Uint8ClampedArray(height * width * 4);
  const scale = 255 / (white - black || 1);
  const colour = channels >= 3;
  const start = rank === 4 ? frame * height * width * channels : 0;
  for (let i = 0; i < height * width; i++) {
    const from = start + i * channels;
    const red = (values[from]! - black) * scale;
    const green = colour ? (values[from + 1]! - black) * scale : red;
    const blue = colour ? (values[from + 2]! - black) * scale : red;
    const known = !Number.isNaN(red + green + blue);
    bytes[i * 4] = known ? red : 255;
    bytes[i * 4 + 1] = known ? green : 0;
    bytes[i * 4 + 2] = known ? blue : 255;
    bytes[i * 4 + 3] = channels === 4 ? (values[from + 3]! - black) * scale : 255;
  }
  return { width, height, bytes };
}

export interface Size {
  width: number;
  height: number;
}

/** How large an image is shown in a square of `room`: small ones by a whole factor, so that pixels stay squares. */
export function shownSize(width: number, height: number, room: number): Size {
  const longest = Math.max(width, height, 1);
  const factor = longest <= room ? Math.max(1, Math.floor(room / longest)) : room / longest;
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/** Said of an image to those who cannot see it. */
export function imageWords(name: string, width: number, height: number, channels: number): string {
  const kind = channels >= 3 ? "in colour" : "in grey";
  return `${name}: an image of ${width} by ${height} pixels ${kind}`;
}
