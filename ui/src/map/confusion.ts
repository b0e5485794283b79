// Which class was taken for which: counts by label and prediction. Up to some classes as a matrix; of more only the worst
// confusions and the classes in them.

import type { Chosen } from "./counting";

export interface Cell {
  label: number;
  prediction: number;
  count: number;
}

export interface Confusion {
  /** How many classes there are. */
  classes: number;
  /** The classes of the rows and columns that are shown. */
  shown: readonly number[];
  /** Counts by row and column of `shown`. */
  counts: Uint32Array;
  /** The largest count beside the diagonal. */
  most: number;
  /** The worst confusions, the largest first. */
  worst: readonly Cell[];
  right: number;
  wrong: number;
}

export const MOST_CLASSES = 30;

/** `labels` and `predictions` have the same codes for the same class. */
export function confusionOf(labels: Int32Array, predictions: Int32Array, classes: number, chosen: Chosen): Confusion {
  const total = chosen === null ? labels.length : chosen.length;
  const dense = classes <= 1024;
  const cells = new Uint32Array(dense ? classes * classes : 0);
  const sparse = new Map<number, number>();
  let right = 0;
  let known = 0;
  for (let j = 0; j < total; j++) {
    const i = chosen === null ? j : chosen[j]!;
    const label = labels[i]!;
    const prediction = predictions[i]!;
    if (label < 0 || prediction < 0) continue;
    known++;
    if (label === prediction) right++;
    const cell = label * classes + prediction;
    if (dense) cells[cell]!++;
    else sparse.set(cell, (sparse.get(cell) ?? 0) + 1);
  }
  const worst = worstOf(dense ? cells.entries() : sparse.entries(), classes);
  const shown = classes <= MOST_CLASSES ? Array.from({ length: classes }, (_, i) => i) : involved(worst);
  const countAt = (label: number, prediction: number): number => (dense ? cells[label * classes + prediction]! : (sparse.get(label * classes + prediction) ?? 0));
  const counts = Uint32Array.from({ length: shown.length ** 2 }, (_, i) => countAt(shown[Math.floor(i / shown.length)]!, shown[i % shown.length]!));
  return { classes, shown, counts, most: worst[0]?.count ?? 0, worst: worst.slice(0, MOST_CLASSES), right, wrong: known - right };
}

function worstOf(cells: Iterable<[number, number]>, classes: number): Cell[] {
  const found: Cell[] = [];
  for (const [cell, count] of cells) {
    const [label, prediction] = [Math.floor(cell / classes), cell % classes];
    if (count > 0 && label !== prediction) found.push({ label, prediction, count });
  }
  return found.sort((a, b) => b.count - a.count || a.label - b.label || a.prediction - b.prediction);
}

/** The classes of the worst confusions, as many as a matrix holds, in their own order. */
function involved(worst: readonly Cell[]): number[] {
  const found = new Set<number>();
  for (const { label, prediction } of worst) {
    if (new Set([...found, label, prediction]).size > MOST_CLASSES) break;
    found.add(label).add(prediction);
  }
  return [...found].sort((a, b) => a - b);
}

/** Where an arrow key leads in a grid of `size` by `size`; null for keys that lead nowhere. */
export function stepped(key: string, row: number, column: number, size: number): [row: number, column: number] | null {
  const by: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -size], End: [0, size] };
  const step = by[key];
  if (!step) return null;
  const inside = (value: number): number => Math.max(0, Math.min(size - 1, value));
  return [inside(row + step[0]), inside(column + step[1])];
}
