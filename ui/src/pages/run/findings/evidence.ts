// What a finding is based on, as rows that people read: numbers formatted, lists cut, maps by their largest.

import { number } from "../../../lib/format";

export interface EvidenceRow {
  key: string;
  /** One text, or the entries of a list or map. */
  text: string;
  entries: { name: string; text: string }[];
  /** How many entries there are beyond those. */
  more: number;
}

const MOST = 12;
const LONGEST = 300;

/** `all` shows every entry of long lists. */
export function evidenceRows(evidence: Record<string, unknown>, all = false): EvidenceRow[] {
  return Object.entries(evidence)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => {
      const entries = entriesOf(value);
      const shown = all ? entries : entries.slice(0, MOST);
      return { key: key.replaceAll("_", " "), text: entries.length > 0 ? "" : textOf(value), entries: shown, more: entries.length - shown.length };
    });
}

/** The steps to draw around a window, so that what was before and after is seen. */
export function around(first: number | null, last: number | null, end: number | null): { from: number; to: number } | null {
  if (first === null || last === null) return null;
  const room = Math.max(30, 2 * (last - first));
  const to = last + room;
  return { from: Math.max(0, first - room), to: end === null ? to : Math.max(last, Math.min(to, end)) };
}

function entriesOf(value: unknown): { name: string; text: string }[] {
  if (Array.isArray(value)) return value.map((one, i) => (typeof one === "string" ? { name: one, text: "" } : { name: String(i), text: textOf(one) }));
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).filter(([, one]) => one !== null).map(([name, one]) => ({ name, text: textOf(one) }));
  }
  return [];
}

function textOf(value: unknown): string {
  if (typeof value === "number") return number(value, 5);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value) && value.length === 0) return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
