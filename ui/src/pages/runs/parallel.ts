// Parallel coordinates: an axis a column, a line a run. Scales, lines, brushes and the nearest line; knows no DOM.

import type { RunColumn } from "../../api/schema";
import type { CellValue } from "./columns";
import { exactly, readCondition, type Condition } from "./conditions";

export interface Axis {
  name: string;
  title: string;
  kind: RunColumn["kind"];
  /** From 0 at the bottom to 1 at the top; null where there is nothing to place. */
  place: (value: CellValue) => number | null;
  /** The value at a place, for an axis of numbers. */
  value: (place: number) => number;
  ticks: { place: number; value: number | string }[];
  /** The texts of an axis of texts, from the bottom up. */
  words: string[] | null;
  log: boolean;
}

const MOST_WORDS = 24;
const DECADES_FOR_LOG = 100;

/** An axis over the values that runs have; null where they have too many different texts to be told apart. */
export function axisOf(column: Pick<RunColumn, "name" | "title" | "kind">, values: readonly CellValue[]): Axis | null {
  const numbers = values.filter((value): value is number => typeof value === "number" && Number.isFinite(value));
  const base = { name: column.name, title: column.title, kind: column.kind };
  if (column.kind === "number" || column.kind === "time") return numbers.length > 0 ? numberAxis(base, numbers) : null;
  const words = [...new Set(values.filter((value) => value !== null && value !== "").map(String))].sort();
  return words.length > 0 && words.length <= MOST_WORDS ? wordAxis(base, words) : null;
}

type Base = Pick<Axis, "name" | "title" | "kind">;

function numberAxis(base: Base, numbers: readonly number[]): Axis {
  const low = numbers.reduce((a, b) => Math.min(a, b));
  const high = numbers.reduce((a, b) => Math.max(a, b));
  const log = low > 0 && high / low >= DECADES_FOR_LOG && base.kind === "number";
  const [from, to] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
  const value = (place: number): number => {
    // Exactly: a power of a logarithm is a little less than the number it was of, and would leave out the largest run.
    if (place <= 0) return low;
    if (place >= 1) return high;
    const at = from + place * (to - from);
    return log ? 10 ** at : at;
  };
  return {
    ...base,
    log,
    words: null,
    value,
    place: (found) => {
      if (typeof found !== "number" || !Number.isFinite(found) || (log && found <= 0)) return null;
      return to === from ? 0.5 : ((log ? Math.log10(found) : found) - from) / (to - from);
    },
    ticks: (to === from ? [0.5] : [0, 0.25, 0.5, 0.75, 1]).map((place) => ({ place, value: to === from ? low : value(place) })),
  };
}

function wordAxis(base: Base, words: string[]): Axis {
  const at = (i: number): number => (words.length === 1 ? 0.5 : i / (words.length - 1));
  return {
    ...base,
    log: false,
    words,
    value: (place) => place,
    place: (found) => {
      const i = words.indexOf(String(found));
      return i < 0 ? null : at(i);
    },
    ticks: words.map((word, i) => ({ place: at(i), value: word })),
  };
}

/** The condition that a brush from one place to another says; null where it covers nothing. */
export function brushCondition(axis: Axis, from: number, to: number): Condition | null {
  const [low, high] = [Math.max(0, Math.min(from, to)), Math.min(1, Math.max(from, to))];
  if (high - low < 0.005 && axis.words === null) return null;
  if (axis.words === null) {
    // Ends of four digits read well; what lies on the very edge of the axis must stay inside.
    const [a, b] = [low <= 0 ? axis.value(0) : rounded(axis.value(low)), high >= 1 ? axis.value(1) : rounded(axis.value(high))];
    return { column: axis.name, operator: "between", value: `${a} ${b}` };
  }
  const inside = axis.words.filter((word) => {
    const place = axis.place(word)!;
    return place >= low - 0.02 && place <= high + 0.02;
  });
  if (inside.length === 0 || inside.length === axis.words.length) return null;
  if (inside.length === 1) return { column: axis.name, operator: "=", value: exactly(inside[0]!) };
  return { column: axis.name, operator: "in", value: inside.map(listed).join(", ") };
}

/** Where on an axis a condition of the address lies, to be drawn there; null where it is of another kind. */
export function brushOf(axis: Axis, where: readonly string[]): { from: number; to: number } | null {
  for (const text of where) {
    const read = readCondition(text, [axis.name]);
    if (read?.column !== axis.name || read.operator !== "between" || axis.words !== null) continue;
    const [from, to] = read.value.split(/[\s,]+/).map((end) => axis.place(Number(end)));
    if (typeof from === "number" && typeof to === "number") return { from: clamp(Math.min(from, to)), to: clamp(Math.max(from, to)) };
  }
  return null;
}

/** The places of a run on every axis. */
export function lineOf(axes: readonly Axis[], value: (name: string) => CellValue): (number | null)[] {
  return axes.map((axis) => axis.place(value(axis.name)));
}

/** The line nearest to a point, or -1 where none is within `reach`. `x` counts axes, all else is in the unit of `height`. */
export function nearestLine(lines: readonly (readonly (number | null)[])[], x: number, y: number, height: number, reach: number): number {
  const left = Math.floor(x);
  const share = x - left;
  let best = -1;
  let least = reach;
  lines.forEach((line, i) => {
    const a = line[left] ?? null;
    const b = line[left + 1] ?? null;
    const at = a !== null && b !== null ? a + (b - a) * share : share < 0.1 ? a : share > 0.9 ? b : null;
    if (at === null) return;
    const distance = Math.abs(at - y) * height;
    if (distance <= least) {
      least = distance;
      best = i;
    }
  });
  return best;
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

function listed(word: string): string {
  return /[",\n]|^\s|\s$/.test(word) ? `"${word.replaceAll('"', '""')}"` : word;
}

function clamp(value: number): number {
  return Math.max(0, Math.min(1, value));
}
