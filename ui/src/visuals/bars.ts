// Bars of values that may be below 0: where each begins and ends, in shares of the width. Knows no DOM.

import { extremes } from "./arrays";

export interface Bar {
  from: number;
  width: number;
}

/** The ends of the values, 0 among them, in which bars are shares of the width. */
export function barSpan(...all: ArrayLike<number>[]): { low: number; high: number } {
  let [low, high] = [0, 0];
  for (const values of all) {
    const found = extremes(values);
    if (!found) continue;
    low = Math.min(low, found.min);
    high = Math.max(high, found.max);
  }
  return low === high ? { low: 0, high: 1 } : { low, high };
}

export function barOf(value: number, { low, high }: { low: number; high: number }): Bar {
  if (!Number.isFinite(value)) return { from: placeOf(0, { low, high }), width: 0 };
  const [from, to] = [Math.min(0, value), Math.max(0, value)].map((one) => placeOf(one, { low, high })) as [number, number];
  return { from, width: to - from };
}

export function placeOf(value: number, { low, high }: { low: number; high: number }): number {
  return Math.min(1, Math.max(0, (value - low) / (high - low)));
}

/** The rows that are shown of many: the largest, and those that must be there, in their order. */
export function chosenBars(values: ArrayLike<number>, kept: readonly number[], most: number): number[] {
  const all = Array.from({ length: values.length }, (_, i) => i);
  if (all.length <= most) return all;
  const must = new Set(kept);
  const largest = all.filter((i) => !must.has(i)).sort((a, b) => Math.abs(values[b]!) - Math.abs(values[a]!));
  return [...must, ...largest.slice(0, Math.max(0, most - must.size))].sort((a, b) => a - b);
}
