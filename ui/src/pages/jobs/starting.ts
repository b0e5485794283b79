// What can be started, and whether a job is the one that is meant. Knows no server.

import type { JobRow, NewJob } from "../../api/schema";
import { isGoing } from "./words";

/** Whether a job that still runs does what is wanted: another of that kind would do the same work twice. */
export function sameJob(job: Pick<JobRow, "state" | "kind" | "what" | "run">, wanted: NewJob): boolean {
  if (!isGoing(job) || job.run !== wanted.run || job.kind !== wanted.kind) return false;
  // All analyses make the one that is wanted, too.
  return job.kind !== "analyze" || job.what === (wanted.what ?? "") || job.what === "";
}
