// From where points move to where they are now: a sample is the same one by its id, never by its place in an answer.

import type { Points } from "./types";

/** Where the points were before; null where nobody knows, and they are drawn where they are at once. */
export function cameFrom(before: Points, after: Points): Points | null {
  if (after.from) return after.from;
  return after.samples !== undefined && before.samples === after.samples && before.x.length > 0 ? before : null;
}
