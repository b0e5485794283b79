// Changing tags, note or baseline of a run: shown at once, taken back and said where the server refuses.

import { ApiError, ofRun, send } from "../../api/client";
import type { Annotations, AnnotationsChange, RunRow } from "../../api/schema";

/** `show` puts values into the shown row. Returns what went wrong, or null. */
export async function annotated(row: RunRow, change: AnnotationsChange, show: (values: Partial<Annotations>) => void): Promise<ApiError | null> {
  const before: Annotations = { tags: row.tags, note: row.note, baseline: row.baseline };
  show({
    ...(change.tags ? { tags: change.tags } : {}),
    ...(typeof change.note === "string" ? { note: change.note } : {}),
    ...(typeof change.baseline === "boolean" ? { baseline: change.baseline } : {}),
  });
  try {
    show(await send<Annotations>("PATCH", ofRun(row.id, "annotations"), change));
    return null;
  } catch (cause) {
    show(before);
    return ApiError.from(cause);
  }
}
