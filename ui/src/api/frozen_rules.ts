// How a frozen copy answers what was not asked exactly so when it was made: a part of a list, several series together,
// a window of steps, rows by their number. A rule per kind of question; what no rule covers needs the studio.

import { tableFromArrays, tableFromColumns, tableFromIPC, tableToIPC, Table, type Column } from "@uwdata/flechette";
import { copy, heldAnswer, keyOf, type FrozenIndex, type Held, type Pairs } from "./frozen";

export type Find = (key: string) => Promise<Held | null>;
type Row = Record<string, unknown>;

/** The answer to a question, exact or by a rule; null where this copy does not hold it. */
export async function frozenAnswer(path: string, query: Pairs, index: FrozenIndex = copy, find: Find = heldAnswer): Promise<Held | null> {
  const [, run, ...rest] = path.split("/");
  // The evaluation that is shown anyhow may be named or not.
  const asked = query.filter(([name, value]) => name !== "evaluation" || value !== String(index.evaluation));
  const exact = await find(keyOf(path, asked));
  if (exact) return exact;
  if (path === "runs") return find("runs");
  // Nothing is under way in a copy.
  if (path === "jobs") return answer({ data: [], total: 0, offset: 0, limit: 100 });
  if (run === undefined) return null;
  const question = { path, asked, find };
  const rule = RULES[rest.join("/")];
  return (rule && (await rule(question))) ?? pageOf(question);
}

interface Question {
  path: string;
  asked: Pairs;
  find: Find;
}

const RULES: Record<string, (question: Question) => Promise<Held | null>> = {
  "curves.arrow": curves,
  "tensor/series.arrow": tensorSeries,
  tensors: tensorRows,
  "population/columns.arrow": columns,
  "population/rows": populationRows,
  "population/search": populationSearch,
};

/** A part of a list: the copy holds its beginning under the question without `offset` and `limit`. */
async function pageOf({ path, asked, find }: Question): Promise<Held | null> {
  const held = await find(keyOf(path, without(asked, "offset", "limit")));
  if (!held || held.status !== 200 || held.kind !== "json") return held;
  const whole = json(held) as { data: unknown; total?: number };
  if (!Array.isArray(whole.data) || whole.total === undefined) return held;
  const [offset, limit] = [Number(one(asked, "offset") ?? 0), Number(one(asked, "limit") ?? 100)];
  if (offset > 0 && offset >= whole.data.length && offset < whole.total) return null;
  return answer({ ...whole, data: whole.data.slice(offset, offset + limit), offset, limit });
}

/** Series together: each is held in an answer with others. A window of thinned ones has no more points than the whole. */
async function curves({ path, asked, find }: Question): Promise<Held | null> {
  const wanted = all(asked, "series");
  const found = await Promise.all(wanted.map((series) => find(keyOf(path, [["series", series]]))));
  const held = [...new Set(found)];
  if (held.some((one) => one === null || one.status !== 200)) return held.find((one) => one !== null && one.status !== 200) ?? null;
  const tables = held.map((one) => tableFromIPC(one!.bytes));
  const names = ["series", "step", "epoch", "time", "value", "min", "max", "nonfinite"];
  const all_columns = names.map((name) => tables.flatMap((table) => Array.from(table.getChild(name)!.toArray() as ArrayLike<unknown>)));
  const within = inWindow(asked);
  const set = new Set(wanted);
  const keep = all_columns[0]!.flatMap((series, row) => (set.has(series as string) && within(Number(all_columns[1]![row])) ? [row] : []));
  const arrays = Object.fromEntries(names.map((name, i) => [name, keep.map((row) => all_columns[i]![row])]));
  for (const name of names.slice(1)) arrays[name] = Float64Array.from(arrays[name]!, (value) => (value === null ? NaN : Number(value))) as never;
  const said = saidOfCurves(tables, wanted);
  const counts = countedBy(arrays.series as string[]);
  if (isWindow(asked)) for (const series of wanted) said.points[series] = Math.round((counts.get(series) ?? 0) * (said.every.get(series) ?? 1));
  const metadata = new Map([["points", JSON.stringify(said.points)], ["thinned", JSON.stringify(said.thinned)], ["approximate", JSON.stringify(said.approximate)]]);
  return arrow(arrays, metadata);
}

interface Said {
  points: Record<string, number>;
  thinned: string[];
  approximate: Record<string, string>;
  /** How many values a point of a thinned series stands for. */
  every: Map<string, number>;
}

function saidOfCurves(tables: Table[], wanted: string[]): Said {
  const found: Said = { points: {}, thinned: [], approximate: {}, every: new Map() };
  for (const table of tables) {
    const about = <T>(key: string, otherwise: T): T => JSON.parse(table.schema.metadata?.get(key) ?? JSON.stringify(otherwise)) as T;
    const [points, thinned, approximate] = [about<Record<string, number>>("points", {}), about<string[]>("thinned", []), about<Record<string, string>>("approximate", {})];
    const counts = countedBy(table.getChild("series")!.toArray() as ArrayLike<string>);
    for (const series of wanted) {
      if (Object.hasOwn(points, series)) found.points[series] = points[series]!;
      if (Object.hasOwn(approximate, series)) found.approximate[series] = approximate[series]!;
      if (!thinned.includes(series)) continue;
      found.thinned.push(series);
      found.every.set(series, (points[series] ?? 0) / Math.max(1, counts.get(series) ?? 1));
    }
  }
  return found;
}

/** A window of a tensor's statistics: those points of the whole that lie in it. */
async function tensorSeries({ path, asked, find }: Question): Promise<Held | null> {
  const held = await find(keyOf(path, without(asked, "from", "to", "points")));
  if (!held || held.status !== 200 || !isWindow(asked)) return held;
  const table = tableFromIPC(held.bytes);
  const within = inWindow(asked);
  const steps = Array.from(table.getChild("step")!.toArray() as ArrayLike<number | bigint>, Number);
  const keep = steps.flatMap((step, row) => (within(step) ? [row] : []));
  const arrays = Object.fromEntries(
    table.names.map((name) => {
      const values = table.getChild(String(name))!.toArray() as ArrayLike<number | bigint | null>;
      return [String(name), Float64Array.from(keep, (row) => (values[row] === null ? NaN : Number(values[row])))];
    }),
  );
  return arrow(arrays, table.schema.metadata ?? new Map());
}

/** Tensors by name, by collection and in another order, from the list of all. */
async function tensorRows({ path, asked, find }: Question): Promise<Held | null> {
  const whole = await find(keyOf(path, [["sort", "model"]]));
  if (!whole || whole.status !== 200) return whole;
  const { data, total } = json(whole) as { data: Row[]; total: number };
  const [search, collection, sort] = [(one(asked, "search") ?? "").toLowerCase(), one(asked, "collection") ?? "", one(asked, "sort") ?? "name"];
  const found = data.filter((row) => String(row.name).toLowerCase().includes(search) && (!collection || (row.collections as string[]).includes(collection)));
  const isAll = found.length === data.length;
  return part(sort === "model" ? found : inOrder(found, sort), isAll ? total : found.length, asked);
}

/** Columns together: each is held by itself, all in the one order of the points. */
async function columns({ path, asked, find }: Question): Promise<Held | null> {
  const [names, rest] = [all(asked, "column"), without(asked, "column")];
  const found = await Promise.all(names.map((name) => find(keyOf(path, [...rest, ["column", name]]))));
  const wrong = found.findIndex((held) => held === null || held.status !== 200);
  if (wrong >= 0) return found[wrong]!;
  if (names.length === 1) return found[0]!;
  const tables = found.map((held) => tableFromIPC(held!.bytes));
  const parts = Object.fromEntries(names.map((name, i): [string, Column<unknown>] => [name, tables[i]!.getChild(name)!]));
  // What is said of each column stands in an object by its name.
  const metadata = new Map<string, string>();
  for (const table of tables) {
    for (const [key, text] of table.schema.metadata ?? []) {
      metadata.set(key, JSON.stringify(joined(JSON.parse(metadata.get(key) ?? "null"), JSON.parse(text))));
    }
  }
  const whole = tableFromColumns(parts);
  return { status: 200, kind: "arrow", bytes: encoded(new Table({ ...whole.schema, metadata }, whole.children)) };
}

function joined(one: unknown, other: unknown): unknown {
  const areObjects = [one, other].every((value) => typeof value === "object" && value !== null && !Array.isArray(value));
  return areObjects ? { ...(one as object), ...(other as object) } : other;
}

/** Rows by number or by id, in the order in which they were asked for; unknown ones are left out. */
async function populationRows({ path, asked, find }: Question): Promise<Held | null> {
  const rows = await allRows(path, asked, find);
  if (!rows) return null;
  const [numbers, names] = [all(asked, "row"), all(asked, "sample")];
  const byName = names.length ? new Map(rows.map((row) => [row.sample as string, row])) : new Map<string, Row>();
  const byNumber = new Map(rows.map((row) => [row.row as number, row]));
  const found = [...numbers.map((number) => byNumber.get(Number(number))), ...names.map((name) => byName.get(name))];
  return answer({ data: found.filter((row) => row !== undefined) });
}

/** Samples by a part of their id. Conditions and lassos are judged by the page itself, which has the columns. */
async function populationSearch({ path, asked, find }: Question): Promise<Held | null> {
  if (one(asked, "where") !== null || one(asked, "lasso") !== null) return null;
  const rows = await allRows(path.replace(/search$/, "rows"), asked, find);
  if (!rows) return null;
  const text = (one(asked, "text") ?? "").toLowerCase();
  const found = rows.filter((row) => [row.sample, row.label, row.prediction].some((value) => typeof value === "string" && value.toLowerCase().includes(text)));
  return part(inOrder(found, one(asked, "sort") ?? "-loss"), found.length, asked);
}

const parsed = new WeakMap<Uint8Array, Row[]>();
async function allRows(path: string, asked: Pairs, find: Find): Promise<Row[] | null> {
  const held = await find(keyOf(path, asked.filter(([name]) => name === "evaluation")));
  if (!held || held.status !== 200) return null;
  const rows = parsed.get(held.bytes) ?? (json(held) as { data: Row[] }).data;
  parsed.set(held.bytes, rows);
  return rows;
}

/** Rows by one of their fields, with a `-` before it descending; what is null comes last. */
export function inOrder(rows: readonly Row[], sort: string): Row[] {
  const [name, sign] = sort.startsWith("-") ? [sort.slice(1), -1] : [sort, 1];
  const rank = (a: unknown, b: unknown): number => (typeof a === "string" && typeof b === "string" ? (a < b ? -1 : a > b ? 1 : 0) : Number(a) - Number(b));
  const isNone = (value: unknown): boolean => value === null || value === undefined;
  return [...rows].sort((a, b) => {
    const [x, y] = [a[name], b[name]];
    return isNone(x) || isNone(y) ? Number(isNone(x)) - Number(isNone(y)) : sign * rank(x, y);
  });
}

function part(rows: Row[], total: number, asked: Pairs): Held {
  const [offset, limit] = [Number(one(asked, "offset") ?? 0), Number(one(asked, "limit") ?? 100)];
  return answer({ data: rows.slice(offset, offset + limit), total, offset, limit });
}

function isWindow(asked: Pairs): boolean {
  return one(asked, "from") !== null || one(asked, "to") !== null;
}

function inWindow(asked: Pairs): (step: number) => boolean {
  const [from, to] = [Number(one(asked, "from") ?? -Infinity), Number(one(asked, "to") ?? Infinity)];
  return (step) => step >= from && step <= to;
}

function countedBy(names: ArrayLike<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i < names.length; i++) counts.set(names[i]!, (counts.get(names[i]!) ?? 0) + 1);
  return counts;
}

function arrow(arrays: Record<string, unknown>, metadata: Map<string, string>): Held {
  const plain = tableFromArrays(arrays as Record<string, never>);
  return { status: 200, kind: "arrow", bytes: encoded(new Table({ ...plain.schema, metadata }, plain.children)) };
}

function encoded(table: Table): Uint8Array<ArrayBuffer> {
  return tableToIPC(table, { format: "stream" })! as Uint8Array<ArrayBuffer>;
}

function answer(value: unknown): Held {
  return { status: 200, kind: "json", bytes: new TextEncoder().encode(JSON.stringify(value)) };
}

function json(held: Held): unknown {
  return JSON.parse(new TextDecoder().decode(held.bytes));
}

function one(asked: Pairs, name: string): string | null {
  return asked.find(([known]) => known === name)?.[1] ?? null;
}

function all(asked: Pairs, name: string): string[] {
  return asked.flatMap(([known, value]) => (known === name ? [value] : []));
}

function without(asked: Pairs, ...names: string[]): Pairs {
  return asked.filter(([name]) => !names.includes(name));
}
