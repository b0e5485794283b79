// Two runs on one map: which sample is drawn how, and what is said of them all. Knows no server.

import type { FlipsAnswer } from "../../../api/schema";
import type { Theme } from "../../../lib/theme.svelte";
import { DIMMED, SHOWN, type MapLabel } from "../../../map/types";

/** In the order of the codes of the answer's column `flip`. */
export const FLIPS = ["both right", "better", "worse", "both wrong", "not compared"] as const;
export type Flip = (typeof FLIPS)[number];
export const SHOW = ["all", "worse", "better"] as const;
export type Show = (typeof SHOW)[number];

// What stayed recedes; blue and orange are told apart by everybody.
const COLOURS: Record<Theme, readonly string[]> = {
  light: ["#87919b", "#1f6fd1", "#c8500a", "#5b6670", "#aab2ba"],
  dark: ["#75818c", "#6fb4ff", "#ff9a4d", "#a3aeb8", "#566069"],
};

export function flipColours(theme: Theme): readonly string[] {
  return COLOURS[theme];
}

export function showOf(text: string | null): Show {
  return SHOW.find((one) => one === text) ?? "all";
}

/** Samples that flipped stand out from the others; of one kind alone, where only that is wanted. */
export function flipFlags(codes: Int32Array, show: Show): Uint8Array {
  const flags = new Uint8Array(codes.length);
  const wanted = FLIPS.map((flip) => (show === "all" ? flip === "worse" || flip === "better" : flip === show));
  for (let i = 0; i < codes.length; i++) flags[i] = wanted[codes[i]!] ? SHOWN : DIMMED;
  return flags;
}

/** Places where flips lie densely, as names on the map. */
export function regionLabels(regions: FlipsAnswer["regions"], show: Show): MapLabel[] {
  return (regions ?? [])
    .filter((one) => one.found && one.x !== null && one.y !== null && (show === "all" || one.flip === show))
    .map((one) => ({ x: one.x!, y: one.y!, text: `${one.flips} of ${one.count} ${one.flip}` }));
}

/** The four fields of two models: right and wrong, before and after. */
export function fourFields(counts: NonNullable<FlipsAnswer["counts"]>): { title: string; flip: Flip; count: number }[] {
  const titles: Partial<Record<Flip, string>> = {
    "both right": "right with both",
    worse: "right before, wrong after",
    better: "wrong before, right after",
    "both wrong": "wrong with both",
  };
  return (["both right", "worse", "better", "both wrong"] as const).map((flip) => ({ title: titles[flip]!, flip, count: counts[flip] ?? 0 }));
}

/** What is said of a change of the accuracy that may be none; empty where it is surely one, or nothing is known. */
export function insignificant({ accuracy }: Pick<FlipsAnswer, "accuracy">): string {
  if (!accuracy || accuracy.change === null || accuracy.low === null || accuracy.high === null || accuracy.low > 0 || accuracy.high < 0) return "";
  const points = (value: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value * 100).toFixed(1)}`;
  return `Accuracy ${points(accuracy.change)} points [${points(accuracy.low)}, ${points(accuracy.high)}]: not significant.`;
}

/** Which run comes before: the baseline where there is one, else the first. */
export function sides(runs: readonly string[], baseline: string | null, before: string | null, after: string | null): [string, string] | null {
  const first = before !== null && runs.includes(before) ? before : baseline !== null && runs.includes(baseline) ? baseline : runs[0];
  const second = after !== null && runs.includes(after) && after !== first ? after : runs.find((run) => run !== first);
  return first === undefined || second === undefined ? null : [first, second];
}
