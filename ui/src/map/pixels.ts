// Points put into pixels by hand. Where there is no graphics card, a browser takes 50 times as long for a point of two pixels as
// this does. The picture is that of the card, without soft edges: what comes first stays, large before small.

import type { Size } from "./camera";
import { CORNER, SIDE } from "./shaders";
import { DIMMED, SHOWN, type Points, type View } from "./types";

export interface PixelColumns {
  points: Points;
  codes: Uint16Array;
  /** Of each colour whether it belongs to triangles; null where none does. */
  triangles: readonly boolean[] | null;
  sizes: Uint8Array | null;
  flags: Uint8Array | null;
}

export interface PixelFrame {
  view: View;
  /** Device pixels. */
  size: Size;
  ratio: number;
  count: number;
  /** The diameter of the smallest point, and how much larger the largest is, in device pixels. */
  smallest: number;
  range: number;
  /** Whether the first row is the lowest, as WebGL has it. */
  upwards: boolean;
  shown: Uint32Array;
  dimmed: Uint32Array;
}

// Large points are painted first, so that they stay: who is small hides nobody. Bands of sizes, from and to.
const BANDS = [[170, 255], [85, 169], [0, 84]] as const;
// Half of a diameter from which on a point is a disc.
const DISC = 2;

interface Layer {
  /** Which points: those of this flag; -1 takes all. */
  flag: number;
  from: number;
  to: number;
  palette: Uint32Array;
}

/** Fills `pixels` (alpha, blue, green, red from the highest byte on; 0 is empty). Marked points are not among them. */
export function paintPixels(pixels: Uint32Array, columns: PixelColumns, frame: PixelFrame): void {
  pixels.fill(0);
  // What is shown comes first and stays: what is dimmed lies below it.
  const flags = columns.flags ? [SHOWN, DIMMED] : [-1];
  for (const flag of flags) {
    const palette = flag === DIMMED ? frame.dimmed : frame.shown;
    for (const [from, to] of columns.sizes ? BANDS : [[0, 255] as const]) paintLayer(pixels, columns, frame, { flag, from, to, palette });
  }
}

function paintLayer(pixels: Uint32Array, { points, codes, triangles, sizes, flags }: PixelColumns, frame: PixelFrame, { flag, from, to, palette }: Layer): void {
  const { x, y } = points;
  const { width, height } = frame.size;
  const scale = frame.view.scale * frame.ratio, up = frame.upwards ? scale : -scale;
  // A pixel belongs to a point where its middle does: so much is taken from the middle of the point.
  const left = width / 2 - frame.view.x * scale - 0.5, top = height / 2 - frame.view.y * up - 0.5;
  const least = frame.smallest / 2, step = frame.range / 2 / 255;
  for (let i = 0; i < frame.count; i++) {
    if (flag >= 0 && flags![i] !== flag) continue;
    const size = sizes ? sizes[i]! : 0;
    if (size < from || size > to) continue;
    const across = x[i]! * scale + left, down = y[i]! * up + top;
    // Written so that NaN is outside. As on a card, a point whose middle is outside is not drawn.
    if (!(across >= -0.5 && across < width - 0.5 && down >= -0.5 && down < height - 0.5)) continue;
    const half = least + step * size;
    const colour = palette[codes[i]!]!;
    const triangle = half >= DISC && triangles?.[codes[i]!] === true;
    const above = triangle ? (frame.upwards ? SIDE : CORNER) * half : half, below = triangle ? (frame.upwards ? CORNER : SIDE) * half : half;
    const last = Math.min(height, Math.ceil(down + below));
    for (let row = Math.max(0, Math.ceil(down - above)); row < last; row++) {
      const wide = triangle ? wideOf(half, frame.upwards ? down - row : row - down) : half < DISC ? half : Math.sqrt(Math.max(0, half * half - (row - down) * (row - down)));
      const begin = row * width + Math.max(0, Math.ceil(across - wide)), end = row * width + Math.min(width, Math.ceil(across + wide));
      for (let at = begin; at < end; at++) if (pixels[at] === 0) pixels[at] = colour;
    }
  }
}

/** Half of the width of a triangle so far below its middle. */
function wideOf(half: number, below: number): number {
  return (SIDE * half + 0.5 * below) / 0.866;
}

/** Where the first points are on their way from one map to another. */
export function between(from: Points, to: Points, part: number, count: number): Points {
  const x = new Float32Array(count), y = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    x[i] = from.x[i]! + (to.x[i]! - from.x[i]!) * part;
    y[i] = from.y[i]! + (to.y[i]! - from.y[i]!) * part;
  }
  return { x, y };
}

/** Colours as pixels, with so much of the ground in them. */
export function pixelPalette(palette: readonly string[], ground: readonly number[], part: number): Uint32Array {
  return Uint32Array.from(palette, (text) => {
    const value = parseInt(text.slice(1, 7), 16);
    const [red, green, blue] = [(value >> 16) & 255, (value >> 8) & 255, value & 255].map((one, i) => Math.round(one + (ground[i]! - one) * part));
    return ((255 << 24) | (blue! << 16) | (green! << 8) | red!) >>> 0;
  });
}

