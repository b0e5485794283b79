// A column cut into bins: of equal width, of equal ratio where values span many sizes, one for each value where there are
// few, or one for each name. The bin of each point is kept, so that counting a selection is one look at each point.

import type { CodedColumn, Column } from "./columns";

export const BINS = 40;
/** The bin of what is missing. */
export const MISSING = 255;
const LOOKED_AT = 20_000;
const MOST_NAMES = 60;

export interface Binned {
  column: string;
  /** The bin of each point, MISSING for none. */
  of: Uint8Array;
  bins: number;
  scale: "even" | "ratio" | "values" | "names";
  /** The ends of the bins, one more than bins; for values and names there are none. */
  edges: Float64Array;
  /** The values or names of the bins; empty for ranges. The last may be all others. */
  names: readonly string[];
  /** Whether the last bin is all the names that have none of their own. */
  others: number;
}

/** The points come in a random order, so that the first of them are a fair sample of all. */
function lookedAt(values: Float32Array | Float64Array): Float64Array {
  return Float64Array.from(values.subarray(0, LOOKED_AT)).filter(Number.isFinite).sort();
}

export function binned(column: Column): Binned {
  if (column.kind !== "number") return byName(column);
  const values = column.values;
  const some = lookedAt(values);
  const distinct = new Set(some);
  if (distinct.size > 0 && distinct.size <= BINS && [...distinct].every(Number.isInteger)) {
    const found = byValue(column.name, values, [...distinct].sort((a, b) => a - b));
    if (found) return found;
  }
  return byRange(column.name, values, some);
}

function byRange(column: string, values: Float32Array | Float64Array, some: Float64Array): Binned {
  let [low, high, tiny] = [Infinity, -Infinity, Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value < low && value !== -Infinity) low = value;
    if (value > high && value !== Infinity) high = value;
    if (value > 0 && value < tiny) tiny = value;
  }
  if (low > high) [low, high] = [0, 1];
  const ratio = low >= 0 && high > 0 && some.length > 20 && high > 100 * at(some, 0.5) && at(some, 0.9) > 0;
  // Few samples in many bins are a comb.
  const bins = Math.min(BINS, Math.max(10, Math.round(2 * Math.sqrt(values.length))));
  const edges = ratio ? ratioEdges(bins, Math.max(tiny, at(some, 0.02), high * 1e-9), high, low) : evenEdges(bins, low, high);
  return { column, of: placed(values, edges, ratio), bins: edges.length - 1, scale: ratio ? "ratio" : "even", edges, names: [], others: 0 };
}

function at(sorted: Float64Array, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function evenEdges(bins: number, low: number, high: number): Float64Array {
  const wide = high > low ? high - low : 1;
  return Float64Array.from({ length: bins + 1 }, (_, i) => (i === bins ? low + wide : low + (wide * i) / bins));
}

// The first bin begins at the least value: what is below the range of ratios lies in it.
function ratioEdges(bins: number, from: number, high: number, low: number): Float64Array {
  const step = Math.log(high / from) / bins;
  const edges = Float64Array.from({ length: bins + 1 }, (_, i) => from * Math.exp(step * i));
  edges[0] = Math.min(low, from);
  edges[bins] = high;
  return edges;
}

function placed(values: Float32Array | Float64Array, edges: Float64Array, ratio: boolean): Uint8Array {
  const bins = edges.length - 1;
  const of = new Uint8Array(values.length);
  const low = ratio ? Math.log(edges[1]!) : edges[0]!;
  const high = ratio ? Math.log(edges[bins]!) : edges[bins]!;
  const first = ratio ? 1 : 0;
  const wide = (bins - first) / (high - low || 1);
  for (let i = 0; i < of.length; i++) {
    const value = values[i]!;
    if (value !== value) {
      of[i] = MISSING;
      continue;
    }
    const place = ratio ? (value <= edges[1]! ? 0 : 1 + Math.floor((Math.log(value) - low) * wide)) : Math.floor((value - low) * wide);
    of[i] = place < 0 ? 0 : place >= bins ? bins - 1 : place;
  }
  return of;
}

// Null where a value turns up that was not among those looked at.
function byValue(column: string, values: Float32Array | Float64Array, distinct: number[]): Binned | null {
  const known = new Map(distinct.map((value, i) => [value, i]));
  const of = new Uint8Array(values.length);
  for (let i = 0; i < of.length; i++) {
    const value = values[i]!;
    const bin = value !== value ? MISSING : known.get(value);
    if (bin === undefined) return null;
    of[i] = bin;
  }
  return { column, of, bins: distinct.length, scale: "values", edges: Float64Array.from(distinct), names: distinct.map(String), others: 0 };
}

function byName({ name, codes, names }: CodedColumn): Binned {
  const counts = new Uint32Array(names.length);
  for (let i = 0; i < codes.length; i++) if (codes[i]! >= 0) counts[codes[i]!]!++;
  const many = names.length > MOST_NAMES;
  const order = names.map((_, i) => i);
  if (many) order.sort((a, b) => counts[b]! - counts[a]!).splice(MOST_NAMES - 1);
  else order.sort((a, b) => collator.compare(names[a]!, names[b]!));
  const bin = new Uint8Array(names.length).fill(order.length);
  order.forEach((code, i) => (bin[code] = i));
  const of = new Uint8Array(codes.length);
  for (let i = 0; i < of.length; i++) of[i] = codes[i]! < 0 ? MISSING : bin[codes[i]!]!;
  const others = names.length - order.length;
  const shown = order.map((code) => names[code]!);
  return { column: name, of, bins: order.length + (others > 0 ? 1 : 0), scale: "names", edges: new Float64Array(), names: others > 0 ? [...shown, `${others} others`] : shown, others };
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** A bin in words. */
export function binText(binned: Binned, bin: number, print: (value: number) => string): string {
  if (binned.names.length > 0) return binned.names[bin] ?? "";
  return `${print(binned.edges[bin]!)} to ${print(binned.edges[bin + 1]!)}`;
}

/** A number in so few digits that it is read at a glance, and can be typed. */
export function rounded(value: number, digits = 4): string {
  return String(Number(value.toPrecision(digits)));
}

/** The condition that holds for the bins from one to another; null where there is none (all other names). */
export function conditionOf(binned: Binned, from: number, to: number): { operator: "between" | "in" | "equal"; values: string[] } | null {
  const [first, last] = from < to ? [from, to] : [to, from];
  if (binned.names.length === 0) return { operator: "between", values: [below(binned.edges[first]!), above(binned.edges[last + 1]!)] };
  if (binned.scale === "values" && last > first) return { operator: "between", values: [binned.names[first]!, binned.names[last]!] };
  const own = binned.names.slice(first, last + 1).slice(0, binned.others > 0 && last === binned.bins - 1 ? -1 : undefined);
  return own.length === 0 ? null : { operator: own.length === 1 ? "equal" : "in", values: own };
}

// Rounded outwards, so that no sample of the bin is lost.
function below(value: number): string {
  const text = rounded(value);
  return Number(text) <= value ? text : rounded(value - unit(value));
}

function above(value: number): string {
  const text = rounded(value);
  return Number(text) >= value ? text : rounded(value + unit(value));
}

function unit(value: number): number {
  return value === 0 ? 0 : 10 ** (Math.floor(Math.log10(Math.abs(value))) - 3);
}
