// Where stripes are on the screen: the height of rows, steps along the axis, the cursor, which rows have a label.

import type { FindingRow } from "../api/schema";

export const LOWEST_ROW = 3;
export const HIGHEST_ROW = 22;
const LABEL_HEIGHT = 14;

export function rowHeight(rows: number, available: number): number {
  return Math.max(LOWEST_ROW, Math.min(HIGHEST_ROW, Math.floor(available / Math.max(1, rows))));
}

/** The column that holds a step; the nearest, where none does. */
export function columnOf(steps: readonly number[], step: number): number {
  let low = 0;
  let high = steps.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (steps[middle]! <= step) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** Where a step is along the axis, from 0 to 1: columns are equally wide, whatever number of steps they hold. */
export function placeOf(steps: readonly number[], step: number): number {
  const columns = steps.length - 1;
  if (columns < 1) return 0;
  const column = columnOf(steps, step);
  const [from, to] = [steps[column]!, steps[column + 1]!];
  const inside = to > from ? Math.min(1, Math.max(0, (step - from) / (to - from))) : 0;
  return (column + inside) / columns;
}

/** The steps of columns `a` to `b`, in either order, both included. */
export function stepsOf(steps: readonly number[], a: number, b: number): { from: number; to: number } {
  const columns = steps.length - 1;
  const low = Math.max(0, Math.min(a, b, columns - 1));
  const high = Math.min(columns - 1, Math.max(a, b, 0));
  return { from: steps[low]!, to: Math.max(steps[low]!, steps[high + 1]! - 1) };
}

/** Round numbers of steps for the axis, at most about `most`. */
export function axisSteps(steps: readonly number[], most: number): number[] {
  const first = steps[0] ?? 0;
  const last = (steps.at(-1) ?? 0) - 1;
  if (steps.length < 2 || most < 1) return [];
  const rough = Math.max(1, (last - first) / most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  const found: number[] = [];
  for (let step = Math.ceil(first / size) * size; step <= last; step += size) found.push(step);
  return found;
}

export interface Cursor {
  row: number;
  column: number;
}

/** The cursor after a key, or null where the key does not move it. */
export function moved(cursor: Cursor, key: string, rows: number, columns: number, page: number): Cursor | null {
  const by: Record<string, [number, number]> = {
    ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -columns], End: [0, columns],
  };
  const change = by[key];
  if (!change) return null;
  const within = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));
  return { row: within(cursor.row + change[0], rows), column: within(cursor.column + change[1], columns) };
}

/** Where to scroll so that a row is seen; where it is seen already, to where it is. */
export function scrolledTo(row: number, height: number, scroll: number, panel: number): number {
  const top = row * height;
  if (top < scroll) return top;
  return top + height > scroll + panel ? top + height - panel : scroll;
}

/**
 * The rows from `first` to `last` that have a label. All, where there is room; else the first row of each layer, and
 * of those as many as there is room for. Which they are does not depend on where the panel was scrolled to.
 */
export function labelled(layers: readonly string[], height: number, first: number, last: number): number[] {
  const found: number[] = [];
  if (height >= LABEL_HEIGHT - 2) {
    for (let row = first; row <= last; row++) found.push(row);
    return found;
  }
  const gap = Math.ceil(LABEL_HEIGHT / height);
  for (let row = Math.floor(first / gap) * gap; row <= last; row += gap) {
    // Within each stretch that has room for one label: where a layer begins, or else its first row.
    let chosen = row;
    for (let i = row; i < row + gap && i < layers.length; i++) {
      if (i === 0 || layers[i] !== layers[i - 1]) {
        chosen = i;
        break;
      }
    }
    const before = found.at(-1);
    if (chosen <= last && (before === undefined || chosen - before >= gap)) found.push(chosen);
  }
  return found;
}

export interface Tick {
  place: number;
  step: number;
  severity: FindingRow["severity"];
  findings: FindingRow[];
}

const RANKS: Record<FindingRow["severity"], number> = { info: 0, warning: 1, error: 2 };

/** Findings along the axis; those that would stand on one another share a tick with the worst of their severities. */
export function ticksOf(findings: readonly FindingRow[], steps: readonly number[], most: number): Tick[] {
  const ticks = new Map<number, Tick>();
  const end = steps.at(-1) ?? 0;
  for (const finding of findings) {
    const step = finding.step;
    if (step === null || steps.length < 2 || step < steps[0]! || step >= end) continue;
    const place = placeOf(steps, step);
    const slot = Math.floor(place * most);
    const known = ticks.get(slot);
    if (!known) ticks.set(slot, { place, step, severity: finding.severity, findings: [finding] });
    else {
      known.findings.push(finding);
      if (RANKS[finding.severity] > RANKS[known.severity]) known.severity = finding.severity;
    }
  }
  return [...ticks.values()].sort((a, b) => a.place - b.place);
}

/** The worst severity of the findings about each tensor, and how many there are. */
export function sickTensors(findings: readonly FindingRow[]): Map<string, { severity: FindingRow["severity"]; count: number }> {
  const found = new Map<string, { severity: FindingRow["severity"]; count: number }>();
  for (const { tensor, severity, replaced } of findings) {
    if (tensor === null || replaced) continue;
    const known = found.get(tensor);
    const worse = !known || RANKS[severity] > RANKS[known.severity];
    found.set(tensor, { severity: worse ? severity : known.severity, count: (known?.count ?? 0) + 1 });
  }
  return found;
}

/** The steps to show when zooming around a column: `factor` of those that are shown now, null where that is all and more. */
export function zoomed(steps: readonly number[], column: number, factor: number): { from: number | null; to: number | null } {
  const first = steps[0] ?? 0;
  const end = steps.at(-1) ?? 1;
  const span = Math.max(2, Math.round((end - first) * factor));
  const middle = (steps[column]! + steps[column + 1]!) / 2;
  const from = Math.max(0, Math.round(middle - ((middle - first) / Math.max(1, end - first)) * span));
  // Outwards the end of the run is not known here: the answer has what there is.
  return { from: from === 0 && factor > 1 ? null : from, to: from + span - 1 };
}
