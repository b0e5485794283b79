// What the page of tensors says: names of statistics, the ends of a legend, where the cursor is, lines of code.

import type { TensorRow } from "../../../api/schema";
import type { Query } from "../../../lib/address";
import { grouped, number, share } from "../../../lib/format";
import type { Legend, Stripes } from "../../../lib/stripes";

export const STATISTICS: Record<string, string> = {
  l2: "l2 norm",
  change: "change since the step before",
  mean: "mean",
  std: "standard deviation",
  zeros: "zeros",
  nonfinite: "not finite",
  max: "max",
  min: "min",
  l1: "l1 norm",
  abs_min: "smallest size",
};

/** The statistics that a run has, in the order of the choice. */
export function statisticsOf(known: readonly string[]): string[] {
  const found = Object.keys(STATISTICS).filter((name) => known.length === 0 || known.includes(name));
  return found.length > 0 ? found : ["l2"];
}

/** An end of the legend in words; `statistic` says in what it is measured. */
export function legendText(legend: Legend, statistic: string): string {
  if (legend.kind === "none") return "";
  if (legend.kind === "median") return "own median";
  if (legend.kind === "divided") return `0 or ÷ ${number(legend.value, 2)}`;
  if (legend.kind === "times") return `× ${number(legend.value, 2)}`;
  if (legend.kind === "value") return number(legend.value, 3);
  const sign = legend.value > 0 ? "+ " : "− ";
  const size = Math.abs(legend.value);
  return statistic === "zeros" ? `${sign}${number(size, 3)}` : `${sign}${number(size, 3)} spreads`;
}

/** What a cell of the stripes holds. */
export function cellText(stripes: Stripes, row: number, column: number): string {
  const at = row * stripes.columns + column;
  const from = stripes.steps[column]!;
  const to = stripes.steps[column + 1]! - 1;
  const when = to > from ? `steps ${grouped(from)} to ${grouped(to)}` : `step ${grouped(from)}`;
  const parts = [stripes.tensors[row] ?? "", when];
  const broken = stripes.nonfinite[at]!;
  if (Number.isNaN(broken)) return [...parts, "nothing recorded"].join(" · ");
  if (Number.isNaN(stripes.last[at]!) && broken === 0) return [...parts, "no value"].join(" · ");
  const [last, min, max] = [stripes.last[at]!, stripes.min[at]!, stripes.max[at]!];
  parts.push(min === max ? number(last) : `last ${number(last)}, min ${number(min)}, max ${number(max)}`);
  if (broken > 0) parts.push(`${grouped(broken)} not finite`);
  return parts.join(" · ");
}

/** What of a tensor is not finite, in a sentence. */
export function brokenText(count: number, size: number | null, since: number | null): string {
  if (count <= 0) return "";
  const part = size ? `${grouped(count)} of ${grouped(size)} values (${share(count / size)}) are not finite` : `${grouped(count)} values are not finite`;
  return since === null ? `${part}.` : `${part}; the first ones came at step ${grouped(since)}.`;
}

/** The line of code that saves a tensor in full. */
export function savingLine(tensor: Pick<TensorRow, "name" | "collections">): string {
  const collection = tensor.collections[0];
  if (collection) return `Hook(include_collections=["${collection}"], save_config=SaveConfig(save_interval=100))`;
  const pattern = tensor.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return `Hook(include_regex=r"^${pattern.replaceAll('"', "")}$", save_config=SaveConfig(save_interval=100))`;
}

/** The query of the page with some of it changed, for a link. */
export function changed(query: URLSearchParams, changes: Query): Query {
  const found: Record<string, Query[string]> = {};
  for (const key of new Set(query.keys())) found[key] = query.getAll(key);
  return { ...found, ...changes };
}
