// What is said of a sample, in words. Knows no server and no DOM.

import type { ClassScore, Fact, SampleDetail, SimilarAnswer, Suggestion, TwinRow } from "../../api/schema";
import { count, grouped, number } from "../../lib/format";
import { shellWord } from "../../lib/shell";

/** Whether the answer was right, in words; null where that has no meaning. */
export function verdictOf(sample: Pick<SampleDetail, "correct" | "prediction">): { right: boolean; words: string } | null {
  if (sample.correct === null || sample.prediction === null) return null;
  return sample.correct ? { right: true, words: "right" } : { right: false, words: "wrong" };
}

/** A share as it is said of ranks: never 100 % of something that is not all, nor 0 % of something. */
export function percent(value: number): string {
  const shown = value * 100;
  if (shown > 99.9 && shown < 100) return "99.9 %";
  if (shown > 0 && shown < 0.1) return "0.1 %";
  return `${number(Math.round(shown * 10) / 10, 4)} %`;
}

/** Where a value lies among all samples. */
export function rankWords(rank: number | null): string {
  // Never "lower than the rest": a rank counts what is smaller, and others may be as large.
  return rank === null ? "" : `higher than ${percent(rank)} of samples`;
}

const FIRST = 5;

/** The likeliest classes, the label and the prediction always among them. */
export function likeliest(classes: readonly ClassScore[], label: string | null, most = FIRST): ClassScore[] {
  const known = classes.filter((one) => one.probability !== null).sort((a, b) => b.probability! - a.probability!);
  return withLabel(known, label, most);
}

/** The classes whose centre is nearest, the label always among them. */
export function nearest(classes: readonly ClassScore[], label: string | null, most = FIRST): ClassScore[] {
  const known = classes.filter((one) => one.distance !== null).sort((a, b) => a.distance! - b.distance!);
  return withLabel(known, label, most);
}

function withLabel(sorted: readonly ClassScore[], label: string | null, most: number): ClassScore[] {
  const first = sorted.slice(0, most);
  const own = sorted.find((one) => one.name === label);
  return own && !first.includes(own) ? [...first.slice(0, most - 1), own] : first;
}

/** A name inside a sentence. One that is written from the right, or turns the direction, is kept from turning the rest. */
export function named(name: string): string {
  return /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name;
}

/** How many of the similars have which label, in a sentence. */
export function labelsSentence({ labels }: Pick<SimilarAnswer, "labels">, label: string | null): string {
  const all = Object.values(labels).reduce((sum, one) => sum + one, 0);
  if (all === 0) return "";
  const [name, most] = Object.entries(labels).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))[0]!;
  const same = label === null ? 0 : (labels[label] ?? 0);
  const neighbours = all === 1 ? "neighbour" : "neighbours";
  const said = `${most === all && all > 1 ? "All" : `${grouped(most)} of`} ${grouped(all)} ${neighbours} ${most === 1 ? "is" : "are"} labelled ${named(name)}`;
  if (label === null) return `${said}.`;
  if (label === name) return `${said}, like this sample.`;
  return `${said}; ${same === 0 ? "none shares" : same === 1 ? "only 1 shares" : `${grouped(same)} share`} its label, ${named(label)}.`;
}

export function suggestionSentence({ label, suggested, score, reason }: Pick<Suggestion, "label" | "suggested" | "score" | "reason">): string {
  const known = label === null ? "Without a label" : `Labelled ${named(label)}`;
  const likely = suggested === null ? "that is likely wrong" : `${doubt(score)} ${named(suggested)}`;
  const sure = score === null ? "" : ` (${number(score, 2)})`;
  return `${known}; ${likely}${sure}${reason ? `: ${named(reason)}` : "."}`;
}

// From here on the list of labels names a sample, too.
const DOUBTFUL = 0.15;

/** How sure the analysis is, in a word: a suggestion of one in a thousand is not likely. */
export function doubt(score: number | null): "likely" | "perhaps" | "hardly" {
  if (score === null) return "perhaps";
  if (score >= 0.5) return "likely";
  return score >= DOUBTFUL ? "perhaps" : "hardly";
}

/** What is said of a label that is not in doubt. */
export function trustSentence(score: number | null): string {
  if (score === null) return "It has no score: how many labels are wrong cannot be told, or nothing speaks about this one.";
  const chance = score < 0.001 ? "under 0.1 %" : `${number(100 * score, 2)} %`;
  return `${score < 0.01 ? "No" : "Little"} evidence against it: wrong with a probability of ${chance}.`;
}

/** What a twin means. Leakage is the same sample on both sides of the line between training and the rest. */
export function twinWords({ kind, subset }: Pick<TwinRow, "kind" | "subset">, own: string): string {
  if (kind !== "leakage") return subset === own ? `the same again in ${subset}` : `the same in ${subset}`;
  return subset === "training" ? "in training too: leakage" : `in ${subset} too: leakage`;
}

export function valueOf(fact: Pick<Fact, "value">): string {
  const { value } = fact;
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? number(value, 5) : value;
}

/** Facts whose name or value has the text. */
export function factsLike(facts: readonly Fact[], text: string): Fact[] {
  const wanted = text.trim().toLowerCase();
  return wanted ? facts.filter((one) => one.name.toLowerCase().includes(wanted) || valueOf(one).toLowerCase().includes(wanted)) : [...facts];
}

/** A condition on a column with a value that may hold anything. */
export function condition(column: string, operator: "=" | "!=", value: string): string {
  return `${column} ${operator} "${value}"`;
}

export interface Piece {
  text: string;
  command: boolean;
}

/** A hint with its commands taken out: what stands in backticks, or follows `Run:`. */
export function hintPieces(hint: string): Piece[] {
  const pieces = hint.split(/(`[^`]+`)/).flatMap((part): Piece[] => {
    if (/^`[^`]+`$/.test(part)) return [{ text: part.slice(1, -1), command: true }];
    const run = /^(.*?\bRun: )((?:cutaway|pip) .*?)(\.?)$/s.exec(part);
    if (run) return [{ text: run[1]!, command: false }, { text: run[2]!, command: true }];
    return [{ text: part, command: false }];
  });
  return pieces.filter((one) => one.text.trim() !== "");
}

/** How a training gets the labels of an overlay. `run` is how the run is named in a command; a plain name is below `runs`. */
export function overlayCommand(run: string, overlay: string): string {
  const folder = run.includes("/") ? run : `runs/${run}`;
  return `CUTAWAY_OVERLAY=${shellWord(`${folder}/overlays/${overlay}.parquet`)} python train.py`;
}

/** What was decided, after it was written. */
export function decisionSentence(decision: "accepted" | "rejected" | "undone", label: string | null, overlay: string | null, corrections: number): string {
  const kept = overlay === null ? "" : ` The overlay ${overlay} has ${count(corrections, "correction")}.`;
  if (decision === "accepted") return `Written into the overlay ${overlay ?? ""} as ${label === null ? "–" : named(label)} (${count(corrections, "correction")}). Your data files are unchanged.`;
  return decision === "rejected" ? `Rejected: the label stays.${kept}` : `Undone.${kept}`;
}
