// The columns of the table of runs: which are shown, in which order, how wide, and what a run has in each.

import type { RunColumn, RunRow } from "../../api/schema";
import { duration, moment, number } from "../../lib/format";

export const DEFAULT_COLUMNS: readonly string[] = ["state", "health", "loss", "best_loss", "steps", "seconds", "created", "tags"];
/** Where the person's own choice is kept. */
export const KEPT_AS = "cutaway.runs.columns";

export type CellValue = string | number | boolean | null;
type Kind = RunColumn["kind"];

/** What the table knows of a column that it shows. */
export interface ShownColumn {
  name: string;
  title: string;
  kind: Kind;
  width: number;
}

interface BuiltIn {
  title: string;
  kind: Kind;
  width: number;
  value: (row: RunRow) => CellValue;
}

/** The columns whose values every row brings along. The name is always shown, and first. */
const BUILT_IN: Record<string, BuiltIn> = {
  state: { title: "State", kind: "text", width: 96, value: (row) => row.state },
  health: { title: "Health", kind: "text", width: 124, value: (row) => row.health.verdict },
  loss: { title: "Last loss", kind: "number", width: 172, value: (row) => row.loss?.last ?? null },
  best_loss: { title: "Best loss", kind: "number", width: 106, value: (row) => row.loss?.best ?? null },
  steps: { title: "Steps", kind: "number", width: 88, value: (row) => row.steps },
  epochs: { title: "Epochs", kind: "number", width: 80, value: (row) => row.epochs },
  seconds: { title: "Duration", kind: "number", width: 100, value: (row) => row.seconds },
  created: { title: "Created", kind: "time", width: 98, value: (row) => row.created },
  updated: { title: "Updated", kind: "time", width: 98, value: (row) => row.updated },
  project: { title: "Project", kind: "text", width: 120, value: (row) => row.project },
  folder: { title: "Folder", kind: "text", width: 200, value: (row) => row.folder },
  kind: { title: "Kind", kind: "text", width: 96, value: (row) => row.kind },
  framework: { title: "Framework", kind: "text", width: 104, value: (row) => row.framework },
  attempts: { title: "Attempts", kind: "number", width: 92, value: (row) => row.attempts },
  evaluations: { title: "Evaluations", kind: "number", width: 106, value: (row) => row.evaluations },
  findings: { title: "Findings", kind: "number", width: 90, value: (row) => row.findings },
  warnings: { title: "Warnings", kind: "number", width: 92, value: (row) => row.health.warnings },
  errors: { title: "Errors", kind: "number", width: 80, value: (row) => row.health.errors },
  tags: { title: "Tags", kind: "text", width: 170, value: (row) => row.tags.join(", ") },
  note: { title: "Note", kind: "text", width: 220, value: (row) => row.note },
  baseline: { title: "Baseline", kind: "flag", width: 90, value: (row) => row.baseline },
};

/** The columns that the address names, else those that were kept, else the default; each once, the name left out. */
export function chosenColumns(inAddress: readonly string[], kept: readonly string[] | null): string[] {
  const found = inAddress.length > 0 ? inAddress : (kept ?? DEFAULT_COLUMNS);
  const clean = [...new Set(found)].filter((name) => name !== "name" && name !== "");
  return clean.length > 0 ? clean : [...DEFAULT_COLUMNS];
}

/** What goes into the address: nothing where it is the default. */
export function columnsInAddress(columns: readonly string[]): string[] {
  return sameColumns(columns, DEFAULT_COLUMNS) ? [] : [...columns];
}

export function sameColumns(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

/** What was kept as a text, or null where it is not a list of names. */
export function readKept(text: string | null): string[] | null {
  if (text === null) return null;
  try {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) && found.every((one) => typeof one === "string") ? found : null;
  } catch {
    return null;
  }
}

/** Moves a column by so many places, as far as there are any. */
export function moved(columns: readonly string[], name: string, by: number): string[] {
  const from = columns.indexOf(name);
  if (from < 0) return [...columns];
  const rest = columns.filter((one) => one !== name);
  const to = Math.max(0, Math.min(rest.length, from + by));
  return [...rest.slice(0, to), name, ...rest.slice(to)];
}

export function toggled(columns: readonly string[], name: string): string[] {
  return columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name];
}

/** Columns whose values must be asked for, since rows do not have them of themselves. */
export function askedColumns(columns: readonly string[]): string[] {
  return columns.filter((name) => !(name in BUILT_IN));
}

export function isNumeric(column: Pick<ShownColumn, "kind">): boolean {
  return column.kind === "number";
}

export function shownColumn(name: string, known: ReadonlyMap<string, RunColumn>): ShownColumn {
  const own = BUILT_IN[name];
  if (own) return { name, title: own.title, kind: own.kind, width: own.width };
  const column = known.get(name);
  const title = column?.title ?? name.replace(/^[a-z]+\./, "");
  const kind = column?.kind ?? "text";
  const least = kind === "text" ? 110 : 92;
  return { name, title, kind, width: Math.max(least, Math.min(180, 34 + title.length * 7)) };
}

export function valueOf(row: RunRow, name: string): CellValue {
  const own = BUILT_IN[name];
  return own ? own.value(row) : (row.cells[name] ?? null);
}

/** A value as people read it; a dash where there is none. */
export function valueText(name: string, kind: Kind, value: CellValue): string {
  if (value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (name === "seconds") return duration(value);
  return kind === "time" ? moment(value) : number(value);
}

/** The columns that fit into a width: of those that everybody has, the least important give way; what somebody chose
 * beside them stays, and the table scrolls. */
export function fitting(columns: readonly ShownColumn[], width: number): ShownColumn[] {
  const left = [...columns];
  let wide = left.reduce((sum, column) => sum + column.width, 0);
  for (const name of GIVE_WAY) {
    if (wide <= width || left.length <= 3) break;
    const at = left.findIndex((column) => column.name === name);
    if (at >= 0) wide -= left.splice(at, 1)[0]!.width;
  }
  return left;
}

const GIVE_WAY: readonly string[] = ["tags", "seconds", "steps", "created", "best_loss", "health"];

/** How a column is sorted when its head is pressed: numbers and times largest first, a second press the other way. */
export function nextSort(sort: string, column: Pick<ShownColumn, "name" | "kind">): string {
  if (sort === column.name) return `-${column.name}`;
  if (sort === `-${column.name}`) return column.name;
  return column.kind === "text" || column.name.endsWith("loss") ? column.name : `-${column.name}`;
}

export function sortOf(sort: string, name: string): "ascending" | "descending" | "none" {
  if (sort === name) return "ascending";
  return sort === `-${name}` ? "descending" : "none";
}
