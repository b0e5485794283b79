// How columns and samples of a population are called. Knows no DOM.

import type { EvaluationRow, PopulationColumn } from "../../api/schema";
import { cutMiddle } from "../../lib/cut_middle";
import { count, moment, number, share } from "../../lib/format";
import type { Column } from "../../map/columns";

export const GROUPS: readonly [PopulationColumn["group"], string][] = [
  ["answer", "Answer"],
  ["score", "Scores"],
  ["sample", "Sample"],
  ["analysis", "Analyses"],
  ["metadata", "Metadata"],
  ["metric", "Metrics"],
];

/** From this suspicion on a label is in doubt, as `cutaway fix` and the list of suggestions have it. */
export const DOUBTFUL = 0.15;

/** A column without the name of its group. */
export function shortName(name: string): string {
  return name.replace(/^(metadata|metric)\./, "") || name;
}

/** Columns by group, as a select lists them; ids are not among them. */
export function grouped(columns: readonly PopulationColumn[], fits: (column: PopulationColumn) => boolean): { title: string; columns: PopulationColumn[] }[] {
  return GROUPS.map(([group, title]) => ({ title, columns: columns.filter((one) => one.group === group && one.name !== "sample" && fits(one)) })).filter((one) => one.columns.length > 0);
}

/** What points are coloured by where nobody chose: the label where there are classes, else the loss. */
export function defaultColour(columns: readonly PopulationColumn[]): string {
  const known = new Set(columns.filter((one) => one.kind !== "text").map((one) => one.name));
  return ["label", "loss", "prediction", "subset"].find((name) => known.has(name)) ?? [...known][0] ?? "";
}

/** The columns whose bars are shown where nobody chose: the loss, and those that it follows most closely. */
export function defaultBars(columns: readonly PopulationColumn[], most = 4): string[] {
  const loss = columns.filter((one) => one.name === "loss").map((one) => one.name);
  const rest = columns
    .filter((one) => one.group === "metadata" && one.kind !== "text" && one.values !== 1)
    .toSorted((a, b) => (b.strength ?? -1) - (a.strength ?? -1))
    .map((one) => one.name);
  return [...loss, ...rest].slice(0, most);
}

/** The columns that the loss can be set against, those that it follows most closely first. */
export function againstOrder(columns: readonly PopulationColumn[]): PopulationColumn[] {
  return columns.filter((one) => one.kind !== "text" && !["loss", "sample", "correct"].includes(one.name) && one.values !== 1).toSorted((a, b) => (b.strength ?? -1) - (a.strength ?? -1));
}

/** What the loss is set against where nobody chose: what the samples themselves have, before what the model was scored by. */
export function defaultAgainst(columns: readonly PopulationColumn[]): string {
  const ranked = againstOrder(columns);
  return (ranked.find((one) => one.group === "metadata") ?? ranked[0])?.name ?? "";
}

/** The name of a cluster on the map: the first that distinguishes it, without how many it has. */
export function clusterName(words: string, cluster: number): string {
  const first = words.replace(/^[\d.,\s]+samples?,\s*/, "").split(/[;,]/)[0]!.trim();
  const share = /^(?:(\d+) %|all) of them (.+)$/.exec(first);
  if (share) return share[1] ? `${cutMiddle(share[2]!, 30)} (${share[1]} %)` : cutMiddle(share[2]!, 30);
  return first === "" ? `cluster ${cluster}` : cutMiddle(first, 31);
}

/** The columns of the table where nobody chose. */
export function defaultTable(columns: readonly PopulationColumn[]): string[] {
  const known = new Set(columns.map((one) => one.name));
  const strongest = againstOrder(columns).find((one) => one.group === "metadata");
  return ["label", "prediction", "loss", "suspicion", "subset", ...(strongest ? [strongest.name] : [])].filter((name) => known.has(name));
}

export function valueText(column: Column, point: number): string {
  if (column.kind !== "number") {
    const name = column.names[column.codes[point] ?? -1];
    if (name === undefined) return "–";
    return column.kind === "yes-or-no" ? (/^(true|yes|1)$/i.test(name) ? "yes" : "no") : name;
  }
  const value = column.values[point];
  return value === undefined || Number.isNaN(value) ? "–" : number(value, 4);
}

/** What an evaluation is, in a line. */
export function evaluationText(one: EvaluationRow): string {
  return [moment(one.created), one.accuracy !== null ? `accuracy ${share(one.accuracy)} on ${one.judged}` : "", one.loss !== null ? `loss ${number(one.loss, 3)} on ${one.judged}` : "", one.finished ? "" : "not finished"].filter(Boolean).join(" · ");
}

/** What is said of named samples: what was left out of them, and how many are not in the evaluation. */
export function missingText(asked: number, found: number, more: readonly string[]): string {
  const missing = asked > found ? [`${count(asked - found, "sample")} of ${asked} ${asked - found === 1 ? "is" : "are"} not in this evaluation.`] : [];
  return [...more, ...missing].join(" ");
}
