// Findings as marks on the curves, and when a run began.

import type { FindingRow } from "../../../api/schema";
import type { ChartMark } from "../../../lib/chart_data";
import { grouped } from "../../../lib/format";
import type { AxisMap, Curve } from "../../../lib/series";

/** Findings that have a step; those about steps that a later attempt replaced have no place any more. */
export function marksOf(findings: readonly FindingRow[], map: Pick<AxisMap, "place">, hrefOf: (finding: FindingRow) => string): ChartMark[] {
  return findings.flatMap((finding) => {
    const x = finding.step === null || finding.replaced ? null : map.place(finding.step);
    if (x === null) return [];
    return [{ x, severity: finding.severity, label: `${finding.severity} at step ${grouped(finding.step!)}: ${finding.message}`, href: hrefOf(finding) }];
  });
}

/** When the first known value was, or when the run was made where none is known. */
export function startOf(curves: Iterable<Curve>, created: number | null): number {
  let start = Infinity;
  for (const { time } of curves) if (time.length > 0 && time[0]! < start) start = time[0]!;
  return Number.isFinite(start) ? Math.min(start, created ?? Infinity) : (created ?? 0);
}
