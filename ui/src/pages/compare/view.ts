// What the person chose to compare, and how runs are told apart: by a number, a colour and a kind of line.

import type { ScalarRow } from "../../api/schema";
import type { Dash, XRange } from "../../lib/chart_data";
import { AXES, type Axis } from "../../lib/series";

export const MOST_RUNS = 50;
const MOST_SMOOTH = 0.99;
const AT_FIRST = 4;

export interface CompareView {
  runs: string[];
  series: string[];
  axis: Axis;
  smooth: number;
  log: boolean;
  /** Whether keys that are the same in all runs are shown too. */
  all: boolean;
  baseline: string | null;
  range: XRange | null;
  /** Whether single samples are compared instead of curves. */
  samples: boolean;
}

export function viewOf(query: URLSearchParams): CompareView {
  const axis = query.get("x") ?? "step";
  const [from, to] = [finite(query.get("from")), finite(query.get("to"))];
  return {
    runs: [...new Set(query.getAll("run"))].slice(0, MOST_RUNS),
    series: [...new Set(query.getAll("series"))],
    axis: axis in AXES ? (axis as Axis) : "step",
    smooth: Math.min(MOST_SMOOTH, Math.max(0, Number(query.get("smooth")) || 0)),
    log: query.get("log") === "1",
    all: query.get("only") === "all",
    baseline: query.get("base"),
    range: from !== null && to !== null && from < to ? { min: from, max: to } : null,
    samples: query.get("view") === "samples",
  };
}

export interface LineStyle {
  number: number;
  colour: number;
  dash: Dash;
}

const DASHES: readonly Dash[] = ["solid", "dashed", "dotted"];

/** The style of the run at a place: 24 are told apart by colour and line, all by their number. */
export function styleOf(place: number): LineStyle {
  return { number: place + 1, colour: (place % 8) + 1, dash: DASHES[Math.floor(place / 8) % 3]! };
}

/** The series that are shown before anybody chose: losses first, then metrics. */
export function seriesAtFirst(scalars: readonly ScalarRow[]): string[] {
  const rank: Record<ScalarRow["group"], number> = { loss: 0, metric: 1, rate: 2, throughput: 3, other: 4 };
  const sorted = [...scalars].filter((one) => !one.derived).sort((a, b) => rank[a.group] - rank[b.group]);
  const wanted = sorted.filter((one) => rank[one.group] < 2);
  return (wanted.length > 0 ? wanted : sorted).slice(0, AT_FIRST).map((one) => one.series);
}

/** Which extreme of a series is its best: said beside it, since a name can mislead. */
export function bestOf(series: Pick<ScalarRow, "name" | "group">): "min" | "max" {
  return series.group === "loss" || /loss|err|mae|mse|perplexity|distance/i.test(series.name) ? "min" : "max";
}

/** How a cell of the config differs: from the baseline's, or where there is none, from most of the others. */
export function oddCells(values: readonly (string | null)[], baseline: number | null): boolean[] {
  if (baseline !== null) return values.map((value) => value !== values[baseline]);
  const counts = new Map<string | null, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  const usual = [...counts].filter(([, count]) => count === most);
  // Without a majority, none is the odd one.
  return usual.length === 1 && most > 1 ? values.map((value) => value !== usual[0]![0]) : values.map(() => false);
}

function finite(text: string | null): number | null {
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
