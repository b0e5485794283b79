// Where an insight's samples are seen, and whether it is a test already. Knows no server.

import type { InsightRow, TestRow } from "../../api/schema";
import type { Query } from "../../lib/address";

const PLAIN = /^[\w.-]+$/;

/** The subsets that an insight speaks of, where its words are a plain list; otherwise none. */
export function subsetsOf(text: string): string[] {
  const names = text.split(/, | and /).map((one) => one.trim()).filter(Boolean);
  return names.every((name) => PLAIN.test(name)) ? names : [];
}

/** The query of the population that shows an insight: its conditions within its subsets, or the samples that show it best. */
export function shownIn(row: Pick<InsightRow, "where" | "subset" | "samples">, evaluation: number): Query {
  if (row.where.length === 0) return { evaluation, where: row.samples.length > 0 ? [`sample in ${row.samples.map(listed).join(",")}`] : [] };
  const names = subsetsOf(row.subset);
  const said = row.where.some((one) => /^subset\b/.test(one));
  const within = names.length === 0 || said ? [] : [names.length === 1 ? `subset = ${names[0]}` : `subset in ${names.join(",")}`];
  return { evaluation, where: [...row.where, ...within] };
}

/** The test that says what an insight would make one of. */
export function testOf(row: Pick<InsightRow, "test">, tests: readonly Pick<TestRow, "line" | "name">[]): string | null {
  const found = row.test === null ? undefined : tests.find((one) => one.line === row.test);
  return found ? found.name || found.line : null;
}

function listed(value: string): string {
  return /[",]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
