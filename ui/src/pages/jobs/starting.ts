// What can be started, why not, and whether a job is the one that is meant. Knows no server.

import type { JobRow, NewJob, PopulationDetail } from "../../api/schema";
import { isGoing } from "./words";

export const KINDS: readonly JobRow["kind"][] = ["analyze", "evaluate", "compare"];

export const kindWords: Record<JobRow["kind"], { title: string; about: string }> = {
  analyze: { title: "Analyze", about: "The map, clusters, likely wrong labels, duplicates, insights: what the model sees in its samples." },
  evaluate: { title: "Evaluate again", about: "Runs the model of an earlier evaluation on its data set again." },
  compare: { title: "Compare", about: "Which samples one of two runs gets right and the other gets wrong." },
};

/** Why this cannot be started yet; empty where it can. */
export function whyNot(wanted: Pick<NewJob, "run" | "kind" | "what" | "other">, population: Pick<PopulationDetail, "analyses"> | undefined, error: string): string {
  if (!wanted.run) return "Choose a run.";
  if (error) return error;
  if (!population) return "Loading the run.";
  if (wanted.kind === "compare") return wanted.other ? "" : "Choose the run to compare with.";
  const chosen = wanted.kind === "analyze" ? population.analyses.find((one) => one.analysis === wanted.what) : undefined;
  return chosen && !chosen.applies ? chosen.reason : "";
}

/** Whether a job that still runs does what is wanted: another of that kind would do the same work twice. */
export function sameJob(job: Pick<JobRow, "state" | "kind" | "what" | "other" | "run">, wanted: NewJob): boolean {
  if (!isGoing(job) || job.run !== wanted.run || job.kind !== wanted.kind) return false;
  if (job.kind === "compare") return job.other === (wanted.other ?? "");
  // All analyses make the one that is wanted, too.
  return job.kind !== "analyze" || job.what === (wanted.what ?? "") || job.what === "";
}
