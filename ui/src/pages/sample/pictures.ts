// The small pictures of several samples in one answer: a browser asks for a handful at a time, and each takes its turn.

import { get, ofRun } from "../../api/client";
import { frozen } from "../../api/frozen";

/** The pictures by id, as addresses. Without those that cannot be had so: each of them is asked for by itself. */
export async function picturesOf(run: string, samples: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  // A copy has each in a file beside it.
  if (frozen || samples.length === 0) return new Map();
  try {
    const found = await get<Record<string, string>>(ofRun(run, "previews"), { sample: samples }, signal);
    return new Map(Object.entries(found).map(([sample, png]) => [sample, `data:image/png;base64,${png}`]));
  } catch (cause) {
    if (signal.aborted) throw cause;
    return new Map();
  }
}
