// Columns of a population as the page holds them: an element for each point, in the order of the points. Numbers are
// typed arrays with NaN where a value is missing; everything else is codes into a list of names, -1 where it is missing.

export type ColumnKind = "number" | "category" | "yes-or-no" | "text";

export interface NumberColumn {
  kind: "number";
  name: string;
  values: Float32Array | Float64Array;
}

export interface CodedColumn {
  kind: "category" | "yes-or-no" | "text";
  name: string;
  codes: Int32Array;
  names: readonly string[];
  /** The rarest of very many values came as one: the last name stands for them. */
  folded?: boolean;
}

export type Column = NumberColumn | CodedColumn;

/** How many points have no value. */
export function missingOf(column: Column): number {
  let found = 0;
  if (column.kind === "number") for (const value of column.values) found += Number.isNaN(value) ? 1 : 0;
  else for (const code of column.codes) found += code < 0 ? 1 : 0;
  return found;
}

const PLAIN = new Intl.Collator(undefined, { numeric: true });

/** Where each name of a coded column stands when they are sorted as people sort them: 9 before 10. */
export function ranksOf(names: readonly string[]): Int32Array {
  const order = names.map((_, i) => i).sort((a, b) => PLAIN.compare(names[a]!, names[b]!));
  const ranks = new Int32Array(names.length);
  order.forEach((code, rank) => (ranks[code] = rank));
  return ranks;
}

/** Numbers by which a column sorts; NaN where a value is missing. */
export function keysOf(column: Column): Float32Array | Float64Array {
  if (column.kind === "number") return column.values;
  const ranks = ranksOf(column.names);
  const keys = new Float32Array(column.codes.length);
  for (let i = 0; i < keys.length; i++) {
    const code = column.codes[i]!;
    keys[i] = code < 0 ? NaN : ranks[code]!;
  }
  return keys;
}

/** A coded column in which a name has the same code as in `names`; names that those do not hold come after them. */
export function recoded(column: CodedColumn, names: readonly string[]): CodedColumn {
  const all = [...names];
  const known = new Map(all.map((name, i) => [name, i]));
  const to = column.names.map((name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    known.set(name, all.length);
    return all.push(name) - 1;
  });
  const codes = new Int32Array(column.codes.length);
  for (let i = 0; i < codes.length; i++) {
    const code = column.codes[i]!;
    codes[i] = code < 0 ? -1 : to[code]!;
  }
  return { ...column, codes, names: all };
}

/** What a point has in a column, as text and as a number; null where it is missing. */
export function valueAt(column: Column, point: number): string | number | null {
  if (column.kind !== "number") return column.names[column.codes[point] ?? -1] ?? null;
  const value = column.values[point];
  return value === undefined || Number.isNaN(value) ? null : value;
}
