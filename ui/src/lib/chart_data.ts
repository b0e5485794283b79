// What a chart draws: series with their own x values become the one table that the plotting library wants. Knows no DOM.

export type Dash = "solid" | "dashed" | "dotted";

export interface ChartSeries {
  label: string;
  /** Ascending. Series of one chart may have different ones. */
  x: ArrayLike<number>;
  /** As many as `x`; NaN where there is no finite value: a gap. */
  values: ArrayLike<number>;
  /** 1 to 8: a colour of the theme. */
  colour: number;
  dash?: Dash;
  /** The extremes of what each point stands for, drawn as a band. */
  min?: ArrayLike<number>;
  max?: ArrayLike<number>;
  /** How many values at each point were not finite: a red tick. */
  nonfinite?: ArrayLike<number>;
  /** Drawn pale and left out of the legend: what was there before smoothing. */
  faint?: boolean;
}

export interface ChartMark {
  x: number;
  label: string;
  severity: "info" | "warning" | "error";
  href: string;
}

export interface XRange {
  min: number;
  max: number;
}

export type Part = "values" | "min" | "max";

/** The columns of a chart's table after x, in their order: which series, and which part of it. */
export function columnsOf(series: readonly ChartSeries[]): { series: number; part: Part }[] {
  return series.flatMap((one, at) => {
    const parts: Part[] = one.min && one.max && !one.faint ? ["max", "min", "values"] : ["values"];
    return parts.map((part) => ({ series: at, part }));
  });
}

export type Cell = number | null | undefined;
export type Table = [x: number[], ...columns: Cell[][]];

/** null is a gap that is shown; undefined is a point that other series have and this one does not: no gap. */
export function tableOf(series: readonly ChartSeries[], log = false): Table {
  const x = everyX(series);
  const columns = columnsOf(series).map(({ series: at, part }) => {
    const one = series[at]!;
    return placed(x, one.x, one[part]!, log);
  });
  return [x, ...columns];
}

/** How many values have no place on a logarithmic scale. */
export function withoutLogarithm(series: readonly ChartSeries[]): number {
  let count = 0;
  for (const one of series) {
    if (one.faint) continue;
    for (let i = 0; i < one.values.length; i++) if (one.values[i]! <= 0) count += 1;
  }
  return count;
}

/** The x values at which something was not finite. */
export function nonfiniteAt(series: readonly ChartSeries[]): number[] {
  const found = new Set<number>();
  for (const one of series) {
    if (!one.nonfinite) continue;
    for (let i = 0; i < one.x.length; i++) if (one.nonfinite[i]! > 0) found.add(one.x[i]!);
  }
  return [...found].sort((a, b) => a - b);
}

export function extentOf(series: readonly ChartSeries[]): XRange | null {
  let min = Infinity;
  let max = -Infinity;
  for (const { x } of series) {
    let first = 0;
    let last = x.length - 1;
    // An epoch may not be known at either end.
    while (first <= last && !Number.isFinite(x[first])) first += 1;
    while (last >= first && !Number.isFinite(x[last])) last -= 1;
    if (first > last) continue;
    min = Math.min(min, x[first]!);
    max = Math.max(max, x[last]!);
  }
  return min <= max ? { min, max } : null;
}

/** A range that can be drawn: one point gets room on both sides. */
export function roomy(range: XRange | null): XRange {
  if (range === null) return { min: 0, max: 1 };
  return range.min < range.max ? range : { min: range.min - 0.5, max: range.max + 0.5 };
}

/** The last finite value of a series; NaN where it has none. */
export function lastValue(values: ArrayLike<number>): number {
  for (let i = values.length - 1; i >= 0; i--) if (Number.isFinite(values[i])) return values[i]!;
  return NaN;
}

function everyX(series: readonly ChartSeries[]): number[] {
  const found = new Set<number>();
  for (const one of series) for (let i = 0; i < one.x.length; i++) if (Number.isFinite(one.x[i])) found.add(one.x[i]!);
  return [...found].sort((a, b) => a - b);
}

function placed(x: readonly number[], from: ArrayLike<number>, values: ArrayLike<number>, log: boolean): Cell[] {
  const column = new Array<Cell>(x.length).fill(undefined);
  let at = 0;
  for (let i = 0; i < from.length; i++) {
    while (at < x.length && x[at]! < from[i]!) at += 1;
    if (x[at] !== from[i]) continue;
    const value = values[i]!;
    // Two points at one x (a clock that stood still): the later is the one that holds.
    column[at] = Number.isFinite(value) && !(log && value <= 0) ? value : null;
  }
  return column;
}
