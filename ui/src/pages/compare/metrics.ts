// The last and best values of the compared runs, and which run has the best of each.

import type { ScalarRow } from "../../api/schema";
import { bestOf } from "./view";

export interface MetricColumn {
  series: string;
  title: string;
  mode: string;
  /** Which extreme is the best. */
  best: "min" | "max";
}

const MOST = 12;

/** The columns of the table: what the charts show first, then other losses and metrics. */
export function metricColumns(scalars: readonly ScalarRow[], shown: readonly string[]): MetricColumn[] {
  const wanted = scalars.filter((one) => shown.includes(one.series) || (!one.derived && (one.group === "loss" || one.group === "metric")));
  const place = (one: ScalarRow): number => (shown.includes(one.series) ? shown.indexOf(one.series) : shown.length);
  return [...wanted]
    .sort((a, b) => place(a) - place(b))
    .slice(0, MOST)
    .map((one) => ({ series: one.series, title: one.name, mode: one.mode, best: bestOf(one) }));
}

/** The places of the runs whose value is the best of all; none where there is only one value. */
export function winners(values: readonly (number | null | undefined)[], best: "min" | "max"): Set<number> {
  const finite = values.filter((value): value is number => typeof value === "number" && Number.isFinite(value));
  if (finite.length < 2) return new Set();
  const top = best === "min" ? Math.min(...finite) : Math.max(...finite);
  const found = values.flatMap((value, i) => (value === top ? [i] : []));
  return found.length === finite.length ? new Set() : new Set(found);
}
