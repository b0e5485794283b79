// Samples that are named one by one: those that a window of steps was fed, or those of a kept selection.

import { get, getPage, ofRun } from "../../api/client";
import type { SeenSample, SelectionRow } from "../../api/schema";
import type { Selection } from "../../map/selection";
import { grouped } from "../../lib/format";
import { windowText } from "../run/samples/window";
import { rowsOfSamples } from "./rows.svelte";
import { missingText } from "./words";

const PAGE = 500;
/** As many as a selection can name. */
export const MOST_NAMED = 10_000;

export interface Named {
  samples: string[];
  rows: number[];
  /** What must be said of them; empty where there is nothing. */
  words: string;
}

/** The samples that a selection names; null where it names none. */
export async function namedBy(run: string, evaluation: number, { steps, kept }: Pick<Selection, "steps" | "kept">, signal: AbortSignal): Promise<Named | null> {
  if (steps === null && kept === "") return null;
  const lists = await Promise.all([steps ? fedBy(run, steps, signal) : null, kept ? keptAs(run, kept, signal) : null]);
  const [fed, held] = lists;
  const samples = fed && held ? fed.samples.filter((one) => held.samples.includes(one)) : (fed ?? held)!.samples;
  const rows = await rowsOfSamples(run, evaluation, samples, signal);
  return { samples, rows: rows.map((one) => one.row), words: missingText(samples.length, rows.length, lists.flatMap((one) => one?.words ?? [])) };
}

async function fedBy(run: string, steps: { from: number; to: number }, signal: AbortSignal): Promise<{ samples: string[]; words: string[] }> {
  const found = new Set<string>();
  let total = 0;
  for (let offset = 0; offset === 0 || (offset < total && found.size < MOST_NAMED); offset += PAGE) {
    const page = await getPage<SeenSample>(ofRun(run, "samples"), { ...steps, offset, limit: PAGE }, signal);
    total = page.total;
    for (const one of page.data) found.add(one.sample);
  }
  const words = total === 0 ? [`Samples weren't recorded for ${windowText(steps)}.`] : found.size >= MOST_NAMED ? [`Only the first ${grouped(MOST_NAMED)} samples are shown.`] : [];
  return { samples: [...found].slice(0, MOST_NAMED), words };
}

async function keptAs(run: string, name: string, signal: AbortSignal): Promise<{ samples: string[]; words: string[] }> {
  const kept = await get<SelectionRow[]>(ofRun(run, "selections"), {}, signal);
  const one = kept.find((each) => each.name === name);
  return one ? { samples: one.selected.samples ?? [], words: [] } : { samples: [], words: [`There is no selection ${name} any more.`] };
}
