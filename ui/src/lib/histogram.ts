// A histogram as bars to draw: where each stands and how high it is. Knows no SVG.

import type { Histogram } from "../api/schema";

export interface Bar {
  /** From 0 to 1 along the axis of values. */
  from: number;
  to: number;
  /** From 0 to 1: the share of the highest bar of all that are drawn. */
  height: number;
  count: number;
  low: number;
  high: number;
}

/** Values that have no place on the axis, or one that would hide the others. */
export interface Extra {
  name: string;
  count: number;
  share: number;
  bad: boolean;
}

export interface Shape {
  low: number;
  high: number;
  bars: Bar[];
  before: Bar[];
}

/** The bars of a histogram and, over the same axes, those of an earlier one. Heights are densities: bins of two widths compare; `logarithmic` ones show a single value beside thousands. */
export function shapeOf(now: Histogram, earlier: Histogram | null, logarithmic = false): Shape {
  const shown = earlier ? [now, earlier] : [now];
  const edges = shown.flatMap((one) => (one.counts.length > 0 ? [one.edges[0]!, one.edges.at(-1)!] : []));
  const low = edges.length > 0 ? Math.min(...edges) : 0;
  const high = edges.length > 0 ? Math.max(...edges) : 1;
  const all = shown.flatMap(densities);
  const top = Math.max(...all, 0);
  const least = Math.min(...all.filter((one) => one > 0));
  const height = (one: number): number => (top <= 0 ? 0 : logarithmic ? Math.log1p(one / least) / Math.log1p(top / least) : one / top);
  return { low, high, bars: barsOf(now, low, high, height), before: earlier ? barsOf(earlier, low, high, height) : [] };
}

/** What is told beside the bars: zeros, which are in a bar too, and what is not finite. */
export function extras(histogram: Histogram): Extra[] {
  const size = Math.max(1, histogram.size);
  const rows: [string, number, boolean][] = [
    ["zeros", histogram.zeros, false],
    ["NaN", histogram.nan, true],
    ["+∞", histogram.positive_infinity, true],
    ["−∞", histogram.negative_infinity, true],
  ];
  return rows.map(([name, count, bad]) => ({ name, count, share: count / size, bad }));
}

/** The saved step nearest to a wanted one (the last, where none is wanted), and its neighbours. */
export function savedAround(saved: readonly number[], wanted: number | null): { step: number; index: number; previous: number | null; next: number | null } | null {
  if (saved.length === 0) return null;
  let index = saved.length - 1;
  if (wanted !== null) {
    const after = saved.findIndex((step) => step >= wanted);
    index = after < 0 ? saved.length - 1 : after;
    if (after > 0 && wanted - saved[after - 1]! < saved[after]! - wanted) index = after - 1;
  }
  return { step: saved[index]!, index, previous: saved[index - 1] ?? null, next: saved[index + 1] ?? null };
}

function densities(histogram: Histogram): number[] {
  return histogram.counts.map((count, i) => density(histogram, count, i));
}

function density(histogram: Histogram, count: number, bin: number): number {
  const width = histogram.edges[bin + 1]! - histogram.edges[bin]!;
  return width > 0 ? count / Math.max(1, histogram.size) / width : 0;
}

function barsOf(histogram: Histogram, low: number, high: number, heightOf: (density: number) => number): Bar[] {
  const span = high > low ? high - low : 1;
  return histogram.counts.map((count, i) => {
    const from = histogram.edges[i]!;
    const to = histogram.edges[i + 1]!;
    const height = heightOf(density(histogram, count, i));
    return { from: (from - low) / span, to: (to - low) / span, height, count, low: from, high: to };
  });
}
