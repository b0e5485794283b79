// Heat stripes: one statistic of many tensors over the steps, as levels of a colour map. A row a tensor, a column a
// stretch of steps. Knows no canvas and no theme.

import type { Columns } from "../api/arrow";
import type { MapKind } from "./colour";

export interface Stripes {
  tensors: string[];
  layers: string[];
  /** How the numbers were come by, where not from every step. */
  approximate: string;
  /** The first step of each column, and the step after the last. */
  steps: number[];
  columns: number;
  /** Row after row; NaN where a tensor has nothing in a stretch. */
  last: Float32Array;
  min: Float32Array;
  max: Float32Array;
  nonfinite: Float32Array;
}

/** Each tensor against its own median, or all on one scale. */
export type Scale = "own" | "same";

/** How the numbers of a statistic are to be compared: as ratios, as distances, or as they are. */
type Measure = "ratio" | "distance" | "share" | "count";

const MEASURES: Record<string, Measure> = { mean: "distance", min: "distance", max: "distance", zeros: "share", nonfinite: "count" };

export const BLANK = -1;
export const BROKEN = 256;

export interface Levels {
  /** For each cell `BLANK`, `BROKEN`, or 0 to 255 on the map. */
  cells: Int16Array;
  map: MapKind;
  /** What the low end, the middle and the high end of the map stand for. */
  legend: { low: Legend; middle: Legend; high: Legend };
}

export interface Legend {
  kind: "divided" | "times" | "value" | "median" | "apart" | "none";
  value: number;
}

/** How the numbers of an answer were come by, in words; nothing where they are those of every step. */
export function approximateOf(answer: Pick<Columns, "about">): string {
  return answer.about("exact") === "true" ? "" : (answer.about("approximate") ?? "");
}

/** The stripes of an answer of `tensors/overview.arrow`. */
export function stripesOf(answer: Columns): Stripes {
  const steps = JSON.parse(answer.about("steps") ?? "[]") as number[];
  const columns = Math.max(0, steps.length - 1);
  const flat = (name: string): Float32Array => {
    const cells = new Float32Array(answer.rows * columns).fill(NaN);
    answer.lists(name).forEach((row, i) => cells.set(row.length > columns ? Array.from(row).slice(0, columns) : row, i * columns));
    return cells;
  };
  const texts = (name: string): string[] => answer.texts(name).map((one) => one ?? "");
  return {
    tensors: texts("tensor"), layers: texts("layer"), steps, columns, approximate: approximateOf(answer),
    last: flat("last"), min: flat("min"), max: flat("max"), nonfinite: flat("nonfinite"),
  };
}

/** The levels of the cells. A stretch shows the value in it that is farthest from the usual: a spike of one step is seen. */
export function levelsOf(stripes: Stripes, statistic: string, scale: Scale): Levels {
  const measure = MEASURES[statistic] ?? "ratio";
  if (measure === "count") return countLevels(stripes);
  return scale === "own" ? ownLevels(stripes, measure) : sameLevels(stripes, measure);
}

function countLevels(stripes: Stripes): Levels {
  const cells = new Int16Array(stripes.last.length);
  markEmpty(stripes, cells);
  const none: Legend = { kind: "none", value: 0 };
  return { cells, map: "ordered", legend: { low: { kind: "value", value: 0 }, middle: none, high: none } };
}

function ownLevels(stripes: Stripes, measure: Measure): Levels {
  const { columns, min, max } = stripes;
  const away = new Float32Array(min.length);
  for (let row = 0; row < stripes.tensors.length; row++) {
    const start = row * columns;
    const usual = median(stripes.last.subarray(start, start + columns));
    const unit = measure === "distance" ? spread(stripes.last.subarray(start, start + columns), usual) : 1;
    for (let i = start; i < start + columns; i++) {
      away[i] = measure === "ratio" ? ratio(min[i]!, max[i]!, usual) : apart(min[i]!, max[i]!, usual, unit);
    }
  }
  const limit = niceLimit(percentile(away, 0.97), measure);
  const cells = new Int16Array(away.length);
  for (let i = 0; i < cells.length; i++) cells[i] = level(away[i]! / limit / 2 + 0.5);
  markEmpty(stripes, cells);
  const end = measure === "ratio" ? 2 ** limit : limit;
  const kinds = measure === "ratio" ? (["divided", "times"] as const) : (["apart", "apart"] as const);
  const low: Legend = { kind: kinds[0], value: measure === "ratio" ? end : -end };
  return { cells, map: "diverging", legend: { low, middle: { kind: "median", value: 0 }, high: { kind: kinds[1], value: end } } };
}

function sameLevels(stripes: Stripes, measure: Measure): Levels {
  const cells = new Int16Array(stripes.max.length);
  const found = measure === "distance" ? aroundZero(stripes, cells) : upwards(stripes, cells, measure);
  markEmpty(stripes, cells);
  return found;
}

// Signed numbers of all sizes: close to zero in proportion, far from it by their logarithm.
function aroundZero(stripes: Stripes, cells: Int16Array): Levels {
  const { min, max } = stripes;
  const usual = percentile(max, 0.5) || 1e-12;
  const limit = Math.max(largest(max), largest(min)) || 1;
  const whole = Math.asinh(limit / usual);
  for (let i = 0; i < cells.length; i++) {
    const value = Math.abs(min[i]!) > Math.abs(max[i]!) ? min[i]! : max[i]!;
    cells[i] = level(Math.asinh(value / usual) / whole / 2 + 0.5);
  }
  const value = (one: number): Legend => ({ kind: "value", value: one });
  return { cells, map: "diverging", legend: { low: value(-limit), middle: value(0), high: value(limit) } };
}

function upwards(stripes: Stripes, cells: Int16Array, measure: Measure): Levels {
  const { max } = stripes;
  const logarithmic = measure === "ratio";
  const positive = finiteOf(max, 1, 0);
  const high = positive.length > 0 ? (logarithmic ? percentile(positive, 0.995) : largest(positive)) : 1;
  const low = logarithmic && positive.length > 0 ? Math.min(percentile(positive, 0.005), high / 2) : 0;
  const [from, to] = logarithmic ? [Math.log2(low || high / 2), Math.log2(high)] : [0, high];
  for (let i = 0; i < cells.length; i++) {
    const value = logarithmic ? Math.log2(max[i]!) : max[i]!;
    cells[i] = level((value - from) / (to - from || 1));
  }
  const middle = logarithmic ? Math.sqrt((low || high / 2) * high) : high / 2;
  const value = (one: number): Legend => ({ kind: "value", value: one });
  return { cells, map: "ordered", legend: { low: value(low), middle: value(middle), high: value(high) } };
}

// What is not finite is told apart from what is not there; both win over every level.
function markEmpty(stripes: Stripes, cells: Int16Array): void {
  for (let i = 0; i < cells.length; i++) {
    if (stripes.nonfinite[i]! > 0) cells[i] = BROKEN;
    else if (Number.isNaN(stripes.last[i]!)) cells[i] = BLANK;
  }
}

function level(part: number): number {
  return part >= 1 ? 255 : part > 0 ? Math.floor(part * 256) : 0;
}

/** How many doublings the value farthest from the usual is away from it; a value of 0 is as far below as can be, also
 * where it is the usual one: a layer that was dead all the time must not look like a calm one. */
function ratio(min: number, max: number, usual: number): number {
  if (!(usual > 0)) return max > 0 ? Infinity : -Infinity;
  return max / usual > usual / min ? Math.log2(max / usual) : Math.log2(min / usual);
}

function apart(min: number, max: number, usual: number, unit: number): number {
  return (max - usual > usual - min ? max - usual : min - usual) / unit;
}

function spread(values: Float32Array, usual: number): number {
  const distances = values.map((value) => Math.abs(value - usual));
  return 1.4826 * median(distances) || Math.abs(usual) || largest(distances) || 1;
}

function niceLimit(found: number, measure: Measure): number {
  const steps = { ratio: [1, 2, 3, 5, 7, 10, 15, 20, 40], distance: [3, 5, 10, 30, 100, 1000, 1e5], share: [0.01, 0.05, 0.1, 0.25, 0.5, 1], count: [1] }[measure];
  return steps.find((one) => one >= found) ?? steps.at(-1)!;
}

function largest(values: Float32Array): number {
  let found = 0;
  for (let i = 0; i < values.length; i++) {
    const size = Math.abs(values[i]!);
    if (size > found && size < Infinity) found = size;
  }
  return found;
}

/** The median of the values that are finite; NaN where none is. */
export function median(values: Float32Array): number {
  const finite = finiteOf(values, 1);
  return finite.length === 0 ? NaN : nth(finite, finite.length >> 1);
}

// A percentile of the sizes of the finite values, of a sample where there are many: it only sets a scale.
function percentile(values: Float32Array, part: number): number {
  const sizes = finiteOf(values, Math.max(1, Math.floor(values.length / 20_000)) | 1);
  for (let i = 0; i < sizes.length; i++) sizes[i] = Math.abs(sizes[i]!);
  return sizes.length === 0 ? 0 : nth(sizes, Math.min(sizes.length - 1, Math.floor(part * sizes.length)));
}

function finiteOf(values: Float32Array, stride: number, above = -Infinity): Float32Array {
  const found = new Float32Array(Math.ceil(values.length / stride));
  let count = 0;
  for (let i = 0; i < values.length; i += stride) {
    const value = values[i]!;
    if (value - value === 0 && value > above) found[count++] = value;
  }
  return found.subarray(0, count);
}

// The value that would be at a place if all were sorted; moves them about. Thousands of rows: sorting would be felt.
function nth(values: Float32Array, place: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1]!;
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i]! < pivot) i += 1;
      while (values[j]! > pivot) j -= 1;
      if (i > j) break;
      const kept = values[i]!;
      values[i++] = values[j]!;
      values[j--] = kept;
    }
    if (place <= j) high = j;
    else if (place >= i) low = i;
    else break;
  }
  return values[place]!;
}

/** The pixels of levels, one a cell. */
export function paint(levels: Levels, map: Uint32Array, broken: number): Uint32Array {
  const { cells } = levels;
  const pixels = new Uint32Array(cells.length);
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]!;
    if (cell >= 0) pixels[i] = cell === BROKEN ? broken : map[cell]!;
  }
  return pixels;
}

/** Of each row: in how many columns something was not finite, the most at one step, and since which step. */
export function brokenRows(stripes: Stripes): { most: number; since: number }[] {
  const { columns, nonfinite, steps } = stripes;
  return stripes.tensors.map((_, row) => {
    let most = 0;
    let since = -1;
    for (let column = 0; column < columns; column++) {
      const value = nonfinite[row * columns + column]!;
      if (!(value > 0)) continue;
      if (since < 0) since = steps[column]!;
      if (value > most) most = value;
    }
    return { most, since };
  });
}
