// Suggested labels: what was decided about each, also a moment ago on this page, and what to do with the decisions. Knows no server.

import type { DecisionRow, SuggestionRow } from "../../api/schema";
import { number } from "../../lib/format";
import { shellWord } from "../../lib/shell";

export type DecidedFilter = "open" | "decided" | "all";

/** What was decided on this page since its rows were asked for, by sample. */
export type Mine = ReadonlyMap<string, Pick<DecisionRow, "decision" | "label">>;

export function decidedFilter(text: string | null): DecidedFilter {
  return text === "open" || text === "decided" ? text : "all";
}

/** A row with what was decided here meanwhile. */
export function withMine(row: SuggestionRow, mine: Mine): SuggestionRow {
  const newer = mine.get(row.sample);
  if (newer === undefined) return row;
  if (newer.decision === "undone") return { ...row, decision: null, decided_label: null };
  return { ...row, decision: newer.decision, decided_label: newer.decision === "accepted" ? newer.label : null };
}

/** What a decision says, for the row and for those who hear the page. */
export function decisionWords(row: Pick<SuggestionRow, "decision" | "decided_label" | "suggested" | "label">): string {
  if (row.decision === "accepted") return `corrected to ${row.decided_label ?? row.suggested ?? "another label"}`;
  if (row.decision === "rejected") return `${row.label ?? "the label"} kept`;
  return "open";
}

/** The probability that a label is wrong, in percent. */
export function scoreText(score: number | null): string {
  return score === null ? "–" : `${number(Math.round(score * 1000) / 10, 3)} %`;
}

/** How many are decided when one of them changes. */
export function changedBy(before: SuggestionRow["decision"], after: DecisionRow["decision"]): number {
  return (after === "undone" ? 0 : 1) - (before === null ? 0 : 1);
}

/** What is done with an overlay in a terminal. */
export function overlayCommands(run: string, overlay: string): { title: string; command: string }[] {
  const word = shellWord(run);
  return [
    { title: "Train with it", command: `CUTAWAY_OVERLAY=${shellWord(`${run}/overlays/${overlay}.parquet`)} python train.py` },
    { title: "See all overlays", command: `cutaway fix ${word} --list` },
    { title: "Take it back", command: `cutaway fix ${word} --undo --name ${shellWord(overlay)}` },
  ];
}
