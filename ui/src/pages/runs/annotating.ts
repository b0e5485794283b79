// Changing tags, note or baseline of a run: shown at once, taken back and said where the server refuses.

import { ApiError, ofRun, send } from "../../api/client";
import type { RunAnnotations, AnnotationsChange, RunRow } from "../../api/schema";

/** `show` puts values into the shown row. Returns what went wrong, or null. */
export async function annotated(row: RunRow, change: AnnotationsChange, show: (values: Partial<RunAnnotations>) => void): Promise<ApiError | null> {
  const before: RunAnnotations = { tags: row.tags, note: row.note, baseline: row.baseline };
  show({
    ...(change.tags ? { tags: change.tags } : {}),
    ...(typeof change.note === "string" ? { note: change.note } : {}),
    ...(typeof change.baseline === "boolean" ? { baseline: change.baseline } : {}),
  });
  try {
    show(await send<RunAnnotations>("PATCH", ofRun(row.id, "annotations"), change));
    return null;
  } catch (cause) {
    show(before);
    return ApiError.from(cause);
  }
}
