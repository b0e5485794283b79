// Findings as a list: which are wanted, by rule or one by one. Knows no DOM.

import type { FindingRow } from "../../../api/schema";
import { grouped } from "../../../lib/format";

export type Severity = FindingRow["severity"];
export const SEVERITIES: readonly Severity[] = ["error", "warning", "info"];

/** The source of findings about samples, which an analysis makes. */
const BY_ANALYSIS = "analyze";

export function isAboutSamples(finding: FindingRow): boolean {
  return finding.source === BY_ANALYSIS;
}

export interface Wanted {
  severities: readonly string[];
  code: string;
  about: string;
}

export function chosen(findings: readonly FindingRow[], wanted: Wanted): FindingRow[] {
  return findings.filter(
    (one) =>
      (wanted.severities.length === 0 || wanted.severities.includes(one.severity)) &&
      (wanted.code === "" || one.code === wanted.code) &&
      (wanted.about === "" || wanted.about === "all" || isAboutSamples(one) === (wanted.about === "samples")),
  );
}

export interface Group {
  code: string;
  severity: Severity;
  findings: FindingRow[];
  first: number | null;
  last: number | null;
}

/** The findings of each rule, the worst rules first, then those with the most. */
export function groupsOf(findings: readonly FindingRow[]): Group[] {
  const groups = new Map<string, Group>();
  for (const one of findings) {
    const group = groups.get(one.code) ?? { code: one.code, severity: one.severity, findings: [], first: null, last: null };
    group.findings.push(one);
    if (rank(one.severity) < rank(group.severity)) group.severity = one.severity;
    if (one.step !== null) {
      group.first = group.first === null ? one.step : Math.min(group.first, one.step);
      group.last = group.last === null ? one.step : Math.max(group.last, one.step);
    }
    groups.set(one.code, group);
  }
  return [...groups.values()].sort((a, b) => rank(a.severity) - rank(b.severity) || b.findings.length - a.findings.length);
}

/** Whether a list is easier to read by rule: there are many, and some rules fired often. */
export function worthGrouping(findings: readonly FindingRow[]): boolean {
  return findings.length > 20 && groupsOf(findings).some((group) => group.findings.length >= 3);
}

export type Item = { kind: "group"; group: Group; open: boolean } | { kind: "finding"; finding: FindingRow; inside: boolean };

/** The rows of the list; of a group that is open, its findings follow it. */
export function itemsOf(findings: readonly FindingRow[], grouping: boolean, open: readonly string[]): Item[] {
  if (!grouping) return findings.map((finding) => ({ kind: "finding", finding, inside: false }));
  return groupsOf(findings).flatMap((group): Item[] => {
    const shown = open.includes(group.code);
    const rows = shown ? group.findings.map((finding): Item => ({ kind: "finding", finding, inside: true })) : [];
    return [{ kind: "group", group, open: shown }, ...rows];
  });
}

export function stepsText(first: number | null, last: number | null): string {
  if (first === null || last === null) return "–";
  return first === last ? grouped(first) : `${grouped(first)} to ${grouped(last)}`;
}

function rank(severity: Severity): number {
  return SEVERITIES.indexOf(severity);
}
