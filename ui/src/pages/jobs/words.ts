// Jobs in words: what one does, how far it is, how long that takes yet. Knows no server.

import type { JobRow } from "../../api/schema";
import { count, duration, grouped, number } from "../../lib/format";

export type JobState = JobRow["state"];
type Progress = Pick<JobRow, "done" | "total" | "unit">;

export const STATES: readonly JobState[] = ["waiting", "running", "finished", "failed", "cancelled", "lost"];

/** Whether a job can still change by itself. */
export function isGoing(job: Pick<JobRow, "state">): boolean {
  return job.state === "waiting" || job.state === "running";
}

export const isOver = (job: Pick<JobRow, "state">): boolean => !isGoing(job);

/** What a job does, without its run. */
export function titleOf(job: Pick<JobRow, "kind" | "what" | "other">): string {
  if (job.kind === "evaluate") return "Evaluation";
  if (job.kind === "compare") return job.other ? `Comparison with ${job.other}` : "Comparison";
  return job.what ? `Analysis: ${job.what}` : "All analyses";
}

/** What became of a job, or where it is, in a sentence of its own. */
export function stateSentence(job: Pick<JobRow, "state" | "stage">): string {
  const sentences: Record<JobState, string> = {
    waiting: "Waiting for its turn.",
    running: job.stage ? `Running: ${job.stage}.` : "Running.",
    finished: "Finished.",
    failed: "Failed.",
    cancelled: "Cancelled. What it had saved is kept.",
    lost: "Its process ended unexpectedly: the machine was restarted, or the process was killed.",
  };
  return sentences[job.state];
}

/** How much is done, from 0 to 1; null where nobody knows how much there is. */
export function doneShare(job: Progress & Pick<JobRow, "state">): number | null {
  if (job.state === "finished") return 1;
  if (job.total === null || job.total <= 0) return null;
  return Math.max(0, Math.min(1, job.done / job.total));
}

/** `1,200 of 70,000 samples`. The unit is of many; what the server calls by nothing are steps of the work. */
export function progressText(job: Progress): string {
  const unit = job.unit || "steps";
  if (job.total !== null && job.total > 0) return `${grouped(job.done)} of ${grouped(job.total)} ${unit}`;
  return job.done > 0 ? `${grouped(job.done)} ${unit}` : "";
}

/** How quick, in the form that has no long fraction. */
export function rateText(job: Pick<JobRow, "rate" | "unit">): string {
  const rate = job.rate;
  if (rate === null || !Number.isFinite(rate) || rate <= 0) return "";
  const unit = job.unit || "steps";
  if (rate >= 1) return `${number(rate, rate >= 100 ? 3 : 2)} ${unit} a second`;
  return `one every ${duration(1 / rate)}`;
}

/** What is left, as coarse as it is known. */
export function etaText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return "";
  if (seconds < 10) return "a few seconds left";
  if (seconds < 55) return `about ${Math.ceil(seconds / 10) * 10} seconds left`;
  if (seconds < 3300) return `about ${count(Math.max(1, Math.round(seconds / 60)), "minute")} left`;
  const hours = seconds / 3600;
  if (hours < 36) return `about ${hours < 10 ? halves(hours) : Math.round(hours)} ${hours < 1.25 ? "hour" : "hours"} left`;
  return `about ${count(Math.round(hours / 24), "day")} left`;
}

/** Where a job is now, for those who hear the page. */
export function spokenProgress(job: JobRow): string {
  const share = doneShare(job);
  const parts = [job.stage, share === null ? progressText(job) : `${Math.floor(share * 100)} percent`, etaText(job.eta)];
  return parts.filter(Boolean).join(", ") || job.state;
}

/** How long it took, or has taken until `now`. */
export function tookSeconds(job: Pick<JobRow, "created" | "ended">, now: number): number | null {
  return job.created === null ? null : Math.max(0, (job.ended ?? now) - job.created);
}

function halves(hours: number): string {
  const twice = Math.max(2, Math.round(hours * 2));
  return twice % 2 === 0 ? String(twice / 2) : `${(twice - 1) / 2}½`;
}
