// Windows of steps, and what is said of the samples in them. Knows no DOM.

import type { SeenSample } from "../../../api/schema";
import { grouped, number } from "../../../lib/format";

export interface Window {
  from: number;
  to: number;
}

/** The window that the address names, put right: either end may be missing or beyond the run. Null for the newest step. */
export function windowFrom(from: number | null, to: number | null, last: number | null): Window | null {
  if (from === null && to === null) return null;
  const low = Math.max(0, Math.floor(from ?? to ?? 0));
  const high = Math.max(low, Math.floor(to ?? last ?? low));
  return { from: low, to: high };
}

/** The window of the same length before or after; null where the run has no steps there. */
export function moved(window: Window, by: -1 | 1, first: number, last: number): Window | null {
  const length = window.to - window.from + 1;
  if (by < 0) return window.from <= first ? null : { from: Math.max(first, window.from - length), to: window.from - 1 };
  return window.to >= last ? null : { from: window.to + 1, to: Math.min(last, window.to + length) };
}

export function windowText({ from, to }: Window): string {
  return from === to ? `step ${grouped(from)}` : `steps ${grouped(from)} to ${grouped(to)}`;
}

/** The names of the values that samples have, the loss first. */
export function valueNames(samples: readonly SeenSample[]): string[] {
  const names = new Set(samples.flatMap((one) => Object.keys(one.values)));
  return [...names].sort((a, b) => Number(b === "loss") - Number(a === "loss") || Number(b.includes("loss")) - Number(a.includes("loss")) || a.localeCompare(b));
}

/** A value as it is read: one that was saved and is null was not finite. */
export function valueText(sample: SeenSample, name: string): string {
  if (!(name in sample.values)) return "–";
  const value = sample.values[name];
  if (value === null || value === undefined) return "not finite";
  return name === "correct" ? (value > 0 ? "yes" : "no") : number(value, 4);
}

/** Whether the last evaluation's prediction is its label; null where either is not known. */
export function isRight({ label, prediction }: SeenSample): boolean | null {
  return label === null || prediction === null ? null : label === prediction;
}

export type Sort = "worst" | "step" | "sample";

export function sorted(samples: readonly SeenSample[], sort: Sort): SeenSample[] {
  if (sort === "step") return samples.toSorted((a, b) => a.step - b.step);
  return sort === "sample" ? samples.toSorted((a, b) => a.sample.localeCompare(b.sample, undefined, { numeric: true })) : [...samples];
}
