// The list of jobs: which are shown, what one made, and how to do one again. Knows no server.

import type { JobRow, NewJob } from "../../api/schema";
import type { Query, Route } from "../../lib/address";
import { isGoing, STATES, type JobState } from "./words";

/** States by name; `going` are those that can still change. */
export type StateFilter = "" | "going" | JobState;

export function stateFilter(text: string | null): StateFilter {
  return text === "going" ? text : (STATES.find((state) => state === text) ?? "");
}

export function filtered(jobs: readonly JobRow[], state: StateFilter): JobRow[] {
  if (state === "") return [...jobs];
  return jobs.filter((job) => (state === "going" ? isGoing(job) : job.state === state));
}

/** The runs that have jobs, by name, for the filter. */
export function runsOf(jobs: readonly Pick<JobRow, "run" | "run_name">[]): { run: string; name: string }[] {
  const names = new Map(jobs.map((job) => [job.run, job.run_name]));
  return [...names].map(([run, name]) => ({ run, name })).sort((a, b) => a.name.localeCompare(b.name));
}

export interface Made {
  words: string;
  route: Route;
  query: Query;
}

const IN_INSIGHTS: Record<string, Query> = { insights: {}, mislabeled: { tab: "labels" } };

/** Where what a finished job made is seen; null while there is nothing. */
export function madeBy(job: Pick<JobRow, "kind" | "run" | "what" | "other" | "state">): Made | null {
  if (job.state !== "finished") return null;
  if (job.kind === "compare") return { words: "Open the comparison", route: { page: "compare" }, query: { run: job.other ? [job.other, job.run] : [job.run] } };
  const insights = job.kind === "analyze" ? IN_INSIGHTS[job.what] : undefined;
  if (insights) return { words: job.what === "insights" ? "Open the insights" : "Open the labels", route: { page: "insights", run: job.run }, query: insights };
  return { words: "Open the population", route: { page: "population", run: job.run }, query: {} };
}

/** What to ask for so that the same is done once more. */
export function againOf(job: JobRow): NewJob {
  return { kind: job.kind, run: job.run, evaluation: job.evaluation ?? null, what: job.what, other: job.other };
}
