// What the person chose to see of the curves: from the address and back.

import type { Query } from "../../../lib/address";
import { AXES, type Axis } from "../../../lib/series";

export interface CurvesView {
  /** The charts that are shown, by series; all where empty. */
  series: string[];
  axis: Axis;
  smooth: number;
  log: boolean;
  /** Steps, the last one included; null goes on to the end. */
  from: number | null;
  to: number | null;
  group: string;
  search: string;
}

export const MOST_SMOOTH = 0.99;

export function viewOf(query: URLSearchParams): CurvesView {
  const axis = query.get("x") ?? "step";
  const [from, to] = [wholeNumber(query.get("from")), wholeNumber(query.get("to"))];
  const turned = from !== null && to !== null && from > to;
  return {
    series: query.getAll("series"),
    axis: axis in AXES ? (axis as Axis) : "step",
    smooth: Math.min(MOST_SMOOTH, Math.max(0, Number(query.get("smooth")) || 0)),
    log: query.get("log") === "1",
    from: turned ? to : from,
    to: turned ? from : to,
    group: query.get("group") ?? "",
    search: query.get("q") ?? "",
  };
}

/** The changes of the address; what is as usual is left out of it. */
export function queryOf(changes: Partial<CurvesView>): Query {
  const found: Query = {};
  if (changes.series !== undefined) found["series"] = changes.series;
  if (changes.axis !== undefined) found["x"] = changes.axis === "step" ? null : changes.axis;
  if (changes.smooth !== undefined) found["smooth"] = changes.smooth > 0 ? changes.smooth : null;
  if (changes.log !== undefined) found["log"] = changes.log ? "1" : null;
  if (changes.from !== undefined) found["from"] = changes.from;
  if (changes.to !== undefined) found["to"] = changes.to;
  if (changes.group !== undefined) found["group"] = changes.group;
  if (changes.search !== undefined) found["q"] = changes.search;
  return found;
}

/** The window of steps that a zoom asks for. One that reaches the last step goes on with the training. */
export function windowOf(first: number, last: number, end: number | null): { from: number | null; to: number | null } {
  const from = Math.max(0, Math.floor(Math.min(first, last)));
  const to = Math.ceil(Math.max(first, last));
  return { from: from === 0 ? null : from, to: end !== null && to >= end ? null : to };
}

function wholeNumber(text: string | null): number | null {
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
}
