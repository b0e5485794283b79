// A chart in words and as a table, for those who do not see it.

import { lastValue, type ChartSeries, type XRange } from "./chart_data";
import { duration, moment, number } from "./format";

/** What the x axis counts. */
export type XKind = "number" | "duration" | "clock";

export function xText(value: number, kind: XKind): string {
  if (kind === "duration") return duration(value);
  return kind === "clock" ? moment(value) : number(value, 5);
}

/** A y value on an axis: short. */
export function shortNumber(value: number | null): string {
  if (value === null) return "";
  const size = Math.abs(value);
  if (size >= 1e4 && size < 1e15) {
    const [divisor, unit] = size >= 1e9 ? [1e9, "G"] : size >= 1e6 ? [1e6, "M"] : [1e3, "k"];
    return `${number(value / divisor, 4)}${unit}`;
  }
  return number(value, 4);
}

/** One sentence: name, range and last values. */
export function describe(name: string, series: readonly ChartSeries[], xLabel: string, range: XRange, kind: XKind): string {
  const shown = series.filter((one) => !one.faint);
  const ends = shown.map((one) => {
    const last = lastValue(one.values);
    if (Number.isNaN(last)) return `${one.label} has no finite value`;
    const ends = Number.isFinite(one.values[one.values.length - 1]);
    return ends ? `${one.label} ends at ${number(last)}` : `${one.label} ends with a value that is not finite, the last finite one is ${number(last)}`;
  });
  const axis = `${xLabel} ${xText(range.min, kind)} to ${xText(range.max, kind)}`;
  return `Chart of ${name}, ${axis}. ${ends.length ? ends.join(", ") : "No values"}.`;
}

/** A value in a legend or a table: null is one that is not finite, undefined one that is not there. */
export function valueText(value: number | null | undefined): string {
  if (value === undefined) return "–";
  return value === null || !Number.isFinite(value) ? "not finite" : number(value);
}

export interface ChartRow {
  x: number;
  values: (number | undefined)[];
}

/** At most `most` rows inside the range, evenly chosen, the last always among them. A series without a point there has undefined. */
export function rowsOf(series: readonly ChartSeries[], range: XRange, most = 50): ChartRow[] {
  const shown = series.filter((one) => !one.faint);
  const rows = new Map<number, (number | undefined)[]>();
  shown.forEach((one, column) => {
    for (let i = 0; i < one.x.length; i++) {
      const x = one.x[i]!;
      if (x < range.min || x > range.max) continue;
      const row = rows.get(x) ?? new Array<number | undefined>(shown.length).fill(undefined);
      row[column] = one.values[i]!;
      rows.set(x, row);
    }
  });
  const all = [...rows].sort(([a], [b]) => a - b).map(([x, values]) => ({ x, values }));
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, i) => all[Math.round((i * (all.length - 1)) / (most - 1))]!);
}
