// The layers of a model as a list to show: a tree whose parts can be closed, or a flat list that is sorted or searched.

import type { LayerRow } from "../../../api/schema";

export type SortKey = "model" | "name" | "health" | "parameters" | "weight" | "gradient" | "update_ratio" | "zeros" | "nonfinite" | "findings";

export interface ShownLayer {
  layer: LayerRow;
  /** What is written: the last part of the name inside a tree, the whole name in a flat list. */
  title: string;
  depth: number;
  parts: number;
  open: boolean;
}

export interface LayersChoice {
  /** A column, with a `-` before it descending. */
  sort: string;
  search: string;
  closed: ReadonlySet<string>;
}

const SORTS: readonly SortKey[] = ["model", "name", "health", "parameters", "weight", "gradient", "update_ratio", "zeros", "nonfinite", "findings"];

export function sortOf(text: string): { key: SortKey; down: boolean } {
  const down = text.startsWith("-");
  const key = SORTS.find((one) => one === (down ? text.slice(1) : text));
  return key ? { key, down } : { key: "model", down: false };
}

/** The next order when a column's head is pressed: largest first, smallest first, the model's. */
export function nextSort(now: string, key: SortKey): string {
  if (key === "model") return "";
  const first = key === "name" ? key : `-${key}`;
  const second = key === "name" ? `-${key}` : key;
  return now === first ? second : now === second ? "" : first;
}

export function shownLayers(layers: readonly LayerRow[], choice: LayersChoice): ShownLayer[] {
  const { key, down } = sortOf(choice.sort);
  const parts = partsOf(layers);
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean);
  if (key === "model" && !down && words.length === 0) return tree(layers, parts, choice.closed);
  // A part sums up its layers: beside them it would be counted twice.
  const own = layers.filter((layer) => layer.tensors.length > 0 || !parts.has(layer.name));
  const found = own.filter((layer) => words.every((word) => layer.name.toLowerCase().includes(word)));
  if (key !== "model") found.sort((a, b) => compare(valueOf(a, key), valueOf(b, key), down));
  return found.map((layer) => ({ layer, title: layer.name, depth: 0, parts: 0, open: true }));
}

/** How many layers lie directly in each part. */
export function partsOf(layers: readonly LayerRow[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { parent } of layers) if (parent !== null) found.set(parent, (found.get(parent) ?? 0) + 1);
  return found;
}

/** Where an update ratio lies between 1e-6 and 1, by its logarithm. */
export function ratioShare(ratio: number | null): number | null {
  if (ratio === null || !Number.isFinite(ratio)) return null;
  if (ratio <= 0) return 0;
  return Math.min(1, Math.max(0, (Math.log10(ratio) + 6) / 6));
}

function tree(layers: readonly LayerRow[], parts: ReadonlyMap<string, number>, closed: ReadonlySet<string>): ShownLayer[] {
  const hidden = new Set<string>();
  const found: ShownLayer[] = [];
  for (const layer of layers) {
    const { name, parent } = layer;
    if (parent !== null && (closed.has(parent) || hidden.has(parent))) {
      hidden.add(name);
      continue;
    }
    const title = parent !== null && name.startsWith(parent) ? name.slice(parent.length + 1) : name;
    found.push({ layer, title, depth: layer.depth, parts: parts.get(name) ?? 0, open: !closed.has(name) });
  }
  return found;
}

const RANKS = { info: 1, warning: 2, error: 3 } as const;

function valueOf(layer: LayerRow, key: Exclude<SortKey, "model">): number | string | null {
  if (key === "health") return layer.severity ? RANKS[layer.severity] : 0;
  return layer[key];
}

/** What is not known comes last, whichever way. */
function compare(a: number | string | null, b: number | string | null, down: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order = typeof a === "string" ? a.localeCompare(String(b), undefined, { numeric: true }) : a - Number(b);
  return down ? -order : order;
}
