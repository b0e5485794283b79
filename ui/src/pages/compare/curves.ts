// The curves of one series in several runs, as a chart draws them.

import type { ChartSeries } from "../../lib/chart_data";
import { curvesOf, placesOf, type Axis, type Curve, type CurveColumns } from "../../lib/series";
import { smoothed } from "../../lib/smoothing";
import { styleOf } from "./view";

export interface ComparedColumns extends CurveColumns {
  rows: number;
  has(name: string): boolean;
}

/** An answer of `compare/curves.arrow` by run. */
export function runCurves(columns: ComparedColumns): Map<string, Curve> {
  return curvesOf({
    texts: () => columns.texts("run"),
    numbers: (name) => (columns.has(name) ? columns.numbers(name) : new Float64Array(columns.rows)),
    about: (key) => columns.about(key),
  });
}

export interface ComparedRun {
  id: string;
  /** When it began, for the axis of time. */
  start: number | null;
}

/** A line a run, in the runs' order; one that lacks the series has none. `runs` are those compared, at their places. */
export function chartSeries(curves: ReadonlyMap<string, Curve>, runs: readonly ComparedRun[], axis: Axis, smooth: number): ChartSeries[] {
  return runs.flatMap(({ id, start }, place): ChartSeries[] => {
    const curve = curves.get(id);
    if (!curve || curve.step.length === 0) return [];
    const { number, colour, dash } = styleOf(place);
    const x = placesOf(curve, axis, start ?? curve.time[0] ?? 0);
    const values = smooth > 0 ? smoothed(curve.value, smooth) : curve.value;
    return [{ label: String(number), x, values, colour, dash, nonfinite: curve.nonfinite }];
  });
}
