// The kinds of insights in words, with an icon each. A kind that a newer studio knows keeps its own name.

import type { IconName } from "../../components/Icon.svelte";

export interface Kind {
  title: string;
  icon: IconName;
  /** What was looked for. */
  about: string;
}

const KINDS: Record<string, Kind> = {
  "low-performance": { title: "Low performance", icon: "warning", about: "groups of samples that the model gets wrong more often than the rest" },
  overfitting: { title: "Overfitting", icon: "compare", about: "a gap between what the model was trained with and what it was not" },
  "mislabeled-samples": { title: "Mislabeled samples", icon: "tag", about: "labels that are likely wrong" },
  "data-leakage": { title: "Data leakage", icon: "error", about: "samples of validation or test that training has too" },
  "domain-gap": { title: "Domain gap", icon: "box", about: "subsets that differ from training" },
  "out-of-distribution": { title: "Out of distribution", icon: "zoom", about: "samples that lie far from all others" },
  duplication: { title: "Duplication", icon: "copy", about: "samples that are there more than once" },
  ambiguous: { title: "Ambiguous", icon: "help", about: "samples that lie between classes" },
  "metadata-explains-loss": { title: "Metadata explains loss", icon: "info", about: "columns that the loss follows" },
};

export const KIND_NAMES: readonly string[] = Object.keys(KINDS);

export function kindOf(name: string): Kind {
  return KINDS[name] ?? { title: name, icon: "info", about: name };
}

/** The kinds that are there with how many of each, in the order in which they first come. */
export function kindCounts(rows: readonly { kind: string }[]): { kind: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { kind } of rows) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => ({ kind, count }));
}
