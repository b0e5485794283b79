// The statistics of one tensor as series of charts.

import type { Columns } from "../../../api/arrow";
import type { FindingRow } from "../../../api/schema";
import type { ChartMark, ChartSeries } from "../../../lib/chart_data";

export interface TensorChart {
  name: string;
  series: ChartSeries[];
  log: boolean;
}

/**
 * The charts of an answer of `tensor/series.arrow`; one whose statistics the run does not have is left out. Statistics are
 * over the finite values: where none of the `size` is left they say nothing, and the line ends.
 */
export function chartsOf(answer: Columns, size: number | null = null): TensorChart[] {
  const x = answer.numbers("step");
  const broken = answer.has("nonfinite") ? answer.numbers("nonfinite") : new Float64Array(x.length);
  const left = (values: Float64Array): Float64Array => (size === null ? values : values.map((value, i) => (broken[i]! >= size ? NaN : value)));
  const one = (statistic: string, colour: number, label = statistic): ChartSeries[] => {
    if (!answer.has(statistic)) return [];
    const values = left(answer.numbers(statistic));
    if (!values.some(Number.isFinite)) return [];
    return [{ label, x, values, colour, ...extremes(answer, statistic) }];
  };
  const charts: TensorChart[] = [
    { name: "Norm and change", series: [...one("l2", 1), ...one("change", 2)], log: true },
    { name: "Mean, between min and max", series: meanWithin(answer, x, left), log: false },
    { name: "Standard deviation", series: one("std", 4), log: false },
    { name: "Share of zeros", series: one("zeros", 6), log: false },
  ];
  if (broken.some((value) => value > 0)) charts.push({ name: "Values that are not finite", series: [{ label: "not finite", x, values: broken, colour: 7 }], log: false });
  return charts.filter((chart) => chart.series.length > 0);
}

/** The first step that holds something not finite; null where none does. */
export function brokenSince(answer: Columns): number | null {
  if (!answer.has("nonfinite")) return null;
  const first = answer.numbers("nonfinite").findIndex((value) => value > 0);
  return first < 0 ? null : answer.numbers("step")[first]!;
}

export function marksOf(findings: readonly FindingRow[], href: (finding: FindingRow) => string): ChartMark[] {
  return findings.flatMap((one) => (one.step === null ? [] : [{ x: one.step, label: `${one.code}, step ${one.step}: ${one.message}`, severity: one.severity, href: href(one) }]));
}

function extremes(answer: Columns, statistic: string): { min?: Float64Array; max?: Float64Array } {
  const [low, high] = [`${statistic}_min`, `${statistic}_max`];
  return answer.has(low) && answer.has(high) ? { min: answer.numbers(low), max: answer.numbers(high) } : {};
}

// The band is what the tensor's own values reach, not what a stretch of steps does.
function meanWithin(answer: Columns, x: Float64Array, left: (values: Float64Array) => Float64Array): ChartSeries[] {
  if (!answer.has("mean")) return [];
  const values = left(answer.numbers("mean"));
  if (!values.some(Number.isFinite)) return [];
  const low = answer.has("min_min") ? "min_min" : "min";
  const high = answer.has("max_max") ? "max_max" : "max";
  const band = answer.has(low) && answer.has(high) ? { min: answer.numbers(low), max: answer.numbers(high) } : {};
  return [{ label: "mean", x, values, colour: 3, ...band }];
}
