// Values of a saved tensor as a picture and as pages of a table. Knows no canvas.

import { BLANK, BROKEN } from "../../../lib/stripes";

export const MOST_DRAWN = 250_000;
export const PAGE = 1000;
const ACROSS = 10;

export interface Grid {
  rows: number;
  columns: number;
  /** How the axes of the tensor lie in the picture. */
  sentence: string;
  /** Whether only the first rows are drawn. */
  cut: boolean;
}

/** How to lay a tensor out in two dimensions: its first axis downwards, the others behind one another. */
export function gridOf(shape: readonly number[], most = MOST_DRAWN): Grid {
  const size = shape.reduce((a, b) => a * b, 1);
  if (shape.length >= 2 && shape[0]! > 0) {
    const columns = size / shape[0]!;
    if (columns <= most) {
      const rows = Math.min(shape[0]!, Math.max(1, Math.floor(most / Math.max(1, columns))));
      const rest = shape.slice(1).join(" × ");
      return { rows, columns, sentence: `${shape[0]} rows of ${rest}`, cut: rows < shape[0]! };
    }
  }
  const drawn = Math.min(size, most);
  const columns = Math.max(1, drawn <= 64 ? drawn : Math.ceil(Math.sqrt(drawn)));
  const rows = Math.ceil(drawn / columns);
  return { rows, columns, sentence: rows > 1 ? `read in rows of ${columns}` : `${size} in one row`, cut: drawn < size };
}

/** The levels of a picture around zero, the size that its ends stand for, and how many values are beyond them. */
export function valueLevels(values: Float64Array, cells: number): { cells: Int16Array; limit: number; beyond: number } {
  const sizes = Float64Array.from(values.filter(Number.isFinite), Math.abs).sort();
  const limit = sizes[Math.min(sizes.length - 1, Math.floor(sizes.length * 0.995))] || sizes.at(-1) || 1;
  const levels = new Int16Array(cells).fill(BLANK);
  for (let i = 0; i < Math.min(values.length, cells); i++) {
    const value = values[i]!;
    levels[i] = Number.isFinite(value) ? Math.max(0, Math.min(255, Math.floor((value / limit / 2 + 0.5) * 256))) : BROKEN;
  }
  return { cells: levels, limit, beyond: sizes.length - (sizes.findLastIndex((size) => size <= limit) + 1) };
}

/** The place of a value in the tensor: `[3, 0, 7]`. */
export function placeIn(shape: readonly number[], index: number): string {
  const places: number[] = [];
  let rest = index;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = Math.max(1, shape[axis]!);
    places.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return `[${places.join(", ")}]`;
}

/** A page of values as rows of ten, each with the place of its first. */
export function pageRows(values: ArrayLike<number>, shape: readonly number[], offset: number): { place: string; values: number[] }[] {
  const rows: { place: string; values: number[] }[] = [];
  for (let i = 0; i < values.length; i += ACROSS) {
    const part = Array.from({ length: Math.min(ACROSS, values.length - i) }, (_, k) => values[i + k]!);
    rows.push({ place: placeIn(shape, offset + i), values: part });
  }
  return rows;
}
