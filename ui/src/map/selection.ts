// What is selected: conditions, a lasso, and named samples. One value for map, charts and table; the address holds it, and
// it can be taken back. Knows no page.

import { parseCondition } from "./conditions";
import type { Place } from "./types";

export interface Selection {
  where: readonly string[];
  lasso: readonly Place[];
  /** The samples of these steps. */
  steps: { from: number; to: number } | null;
  /** The samples that are named in the kept selection of this name. */
  kept: string;
}

export const NOTHING: Selection = { where: [], lasso: [], steps: null, kept: "" };

export function isNothing({ where, lasso, steps, kept }: Selection): boolean {
  return where.length === 0 && lasso.length === 0 && steps === null && kept === "";
}

export function selectionFrom(query: URLSearchParams): Selection {
  const from = wholeNumber(query.get("from"));
  const to = wholeNumber(query.get("to"));
  const low = from ?? to;
  return {
    where: query.getAll("where").filter(Boolean),
    lasso: lassoFrom(query.get("lasso") ?? ""),
    steps: low === null ? null : { from: low, to: Math.max(low, to ?? low) },
    kept: query.get("kept") ?? "",
  };
}

/** As the address has it; what is nothing is left out. */
export function queryOf({ where, lasso, steps, kept }: Selection): { where: string[]; lasso: string | null; from: number | null; to: number | null; kept: string | null } {
  return { where: [...where], lasso: lassoText(lasso) || null, from: steps?.from ?? null, to: steps?.to ?? null, kept: kept || null };
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** `x,y x,y`; a text that is no lasso is none. */
export function lassoFrom(text: string): Place[] {
  const corners = text.split(/[\s;]+/).filter(Boolean).map((corner) => corner.split(",").map(Number));
  const whole = corners.length >= 2 && corners.every((corner) => corner.length === 2 && corner.every(Number.isFinite));
  return whole ? corners.map(([x, y]) => [x!, y!] as const) : [];
}

/** Corners to four digits of the lasso's own size: no finer than anybody draws. */
export function lassoText(lasso: readonly Place[]): string {
  if (lasso.length < 2) return "";
  const sides = [0, 1].map((axis) => Math.max(...lasso.map((one) => one[axis]!)) - Math.min(...lasso.map((one) => one[axis]!)));
  const size = Math.max(...sides) || 1;
  const digits = Math.min(12, Math.max(0, 3 - Math.floor(Math.log10(size))));
  return lasso.map((one) => one.map((value) => String(Number(value.toFixed(digits)))).join(",")).join(" ");
}

/** The column that a condition is about; the whole text where it is no condition. */
export function columnOf(text: string, known: readonly string[] = []): string {
  try {
    return parseCondition(text, known).column;
  } catch {
    return text;
  }
}

/** With other conditions on some columns: those that were there on any of them are gone. */
export function withConditions(selection: Selection, conditions: Record<string, string | null>, known: readonly string[]): Selection {
  const kept = selection.where.filter((text) => !(columnOf(text, known) in conditions));
  return { ...selection, where: [...kept, ...Object.values(conditions).filter((one) => one !== null)] };
}

export function withCondition(selection: Selection, text: string): Selection {
  return selection.where.includes(text) ? selection : { ...selection, where: [...selection.where, text] };
}

export function without(selection: Selection, text: string): Selection {
  return { ...selection, where: selection.where.filter((one) => one !== text) };
}

/** The values that `column` is confined to by an `=` or `in`; none where it is not, or otherwise. */
export function valuesChosen(selection: Selection, column: string, known: readonly string[]): readonly string[] {
  for (const text of selection.where) {
    try {
      const one = parseCondition(text, known);
      if (one.column === column && ["equal", "in", "cluster"].includes(one.operator)) return one.values;
    } catch {
      // A condition of the address that is none confines nothing; the page says so beside it.
    }
  }
  return [];
}

/** Adds a value to those chosen, or takes it away. */
export function toggledValue(values: readonly string[], value: string): string[] {
  return values.includes(value) ? values.filter((one) => one !== value) : [...values, value];
}

export interface History {
  past: readonly Selection[];
  future: readonly Selection[];
}

export const NO_HISTORY: History = { past: [], future: [] };
const MOST_STEPS = 100;

/** After the selection was changed from `before`. */
export function remembered(history: History, before: Selection): History {
  return { past: [...history.past, before].slice(-MOST_STEPS), future: [] };
}

/** One step back from `now`; null where there is none. */
export function undone(history: History, now: Selection): { history: History; selection: Selection } | null {
  const before = history.past.at(-1);
  return before ? { history: { past: history.past.slice(0, -1), future: [now, ...history.future] }, selection: before } : null;
}

export function redone(history: History, now: Selection): { history: History; selection: Selection } | null {
  const [next, ...rest] = history.future;
  return next ? { history: { past: [...history.past, now], future: rest }, selection: next } : null;
}
