// The figures that say how far a heat map can be trusted, as places on a line. Knows no DOM.

import type { SanityRow } from "../../api/schema";

export interface SanityMark {
  name: string;
  value: number;
  shape: "map" | "random" | "magnitude" | "weights";
}

/** The figures that are known, with their names: a deletion AUC each, lower is better. */
export function sanityMarks(sanity: SanityRow): SanityMark[] {
  const all: [string, number | null, SanityMark["shape"]][] = [
    ["this map", sanity.deletion, "map"],
    ["best of 20 random maps", sanity.random_best, "random"],
    ["random maps, median", sanity.random_median, "random"],
    ["the input's own size", sanity.magnitude, "magnitude"],
    ["model with random weights", sanity.random_weights, "weights"],
  ];
  return all.flatMap(([name, value, shape]) => (value === null || !Number.isFinite(value) ? [] : [{ name, value, shape }]));
}

/** The ends of the line: from 0 to 1, or to wherever the figures reach. */
export function sanitySpan(marks: readonly SanityMark[]): { low: number; high: number } {
  const values = marks.map((one) => one.value);
  return { low: Math.min(0, ...values), high: Math.max(1, ...values) };
}
