// The loss of a sample each time the training saw it, as points in a box. Knows no DOM.

import type { FindingRow, SampleVisits } from "../../api/schema";
import { spanOf, type Span } from "../../visuals/graph";

export interface Visit {
  step: number;
  epoch: number | null;
  loss: number | null;
  mode: string;
}

/** In the order of steps. */
export function visitsOf(visits: SampleVisits): Visit[] {
  return visits.steps.map((step, i) => ({ step, epoch: visits.epochs[i] ?? null, loss: visits.losses[i] ?? null, mode: visits.mode[i] ?? "" })).sort((a, b) => a.step - b.step);
}

export interface Ends {
  steps: Span;
  losses: Span;
}

/** The ends of both axes; losses reach down to 0, so that small changes look small. */
export function endsOf(visits: readonly Visit[]): Ends {
  const losses = spanOf(visits.map((one) => one.loss ?? NaN));
  return { steps: spanOf(visits.map((one) => one.step)), losses: losses.low > 0 ? { ...losses, low: 0 } : losses };
}

/** Findings at steps between the first and last visit; those about steps that were replaced have no place. */
export function findingsIn<T extends Pick<FindingRow, "step" | "replaced">>(findings: readonly T[], { low, high }: Span): (T & { step: number })[] {
  return findings.filter((one): one is T & { step: number } => one.step !== null && !one.replaced && one.step >= low && one.step <= high);
}
