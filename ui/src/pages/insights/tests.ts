// Tests of a run: their bounds, and how several runs do on them. Knows no server.

import type { TestRow, TestsOfRun } from "../../api/schema";
import { number, share } from "../../lib/format";
import { scaleOf, type Scale } from "./figure";

export type Verdict = TestRow["verdict"];
export const VERDICTS: readonly Verdict[] = ["failed", "not judged", "passed"];

export interface Bound {
  value: number;
  atLeast: boolean;
}

const BOUND = /(at\s+least|at\s+most|>=|<=)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?)\s*(%)?(?:\s+with\s+at\s+least\s+\d+\s+samples?)?\s*$/i;

/** The bound that a line ends with; null where this page does not understand it. */
export function boundOf(line: string): Bound | null {
  const found = BOUND.exec(line);
  if (!found) return null;
  const value = Number(found[2]) / (found[3] ? 100 : 1);
  return { value, atLeast: /least|>=/i.test(found[1]!) };
}

/** Whether a line is about a share of samples. */
export function isShareLine(line: string): boolean {
  return /^\s*(accuracy|error)\b/i.test(line);
}

export function valueText(line: string, value: number | null): string {
  return isShareLine(line) ? share(value) : number(value, 3);
}

export interface Plot {
  value: number;
  low: number | null;
  high: number | null;
  bound: Bound | null;
  scale: Scale;
  words: string;
}

/** The value of a test, its interval and its bound on one line; null where there is no value. */
export function plotOf(test: Pick<TestRow, "line" | "value" | "low" | "high">): Plot | null {
  if (test.value === null) return null;
  const bound = boundOf(test.line);
  const said = (value: number | null): string => valueText(test.line, value);
  const interval = test.low === null || test.high === null ? "" : `, 95 % interval ${said(test.low)} to ${said(test.high)}`;
  const against = bound ? `; target: ${bound.atLeast ? "at least" : "at most"} ${said(bound.value)}` : "";
  return { value: test.value, low: test.low, high: test.high, bound, scale: scaleOf([test.value, test.low, test.high, bound?.value], false), words: `${said(test.value)}${interval}${against}` };
}

export function counted(tests: readonly Pick<TestRow, "verdict">[]): string {
  const parts = VERDICTS.map((verdict) => [verdict, tests.filter((one) => one.verdict === verdict).length] as const).filter(([, count]) => count > 0);
  return parts.map(([verdict, count]) => `${count} ${verdict}`).join(", ");
}

/** Tests in an order: failed ones first, by their name, or by the value on one run. */
export function sortedTests<T extends Pick<TestRow, "name" | "line" | "verdict" | "value">>(tests: readonly T[], by: string, down: boolean): T[] {
  const sign = down ? -1 : 1;
  const rank = (one: T): number => VERDICTS.indexOf(one.verdict);
  const title = (one: T): string => one.name || one.line;
  return [...tests].sort((a, b) => {
    if (by === "name") return sign * title(a).localeCompare(title(b));
    if (by === "value") return sign * ((a.value ?? -Infinity) - (b.value ?? -Infinity) || title(a).localeCompare(title(b)));
    return sign * (rank(a) - rank(b) || title(a).localeCompare(title(b)));
  });
}

export interface MatrixRow {
  line: string;
  title: string;
  /** One for each run, in their order; null where that run could not be asked. */
  cells: (TestRow | null)[];
}

/** The tests of the first run as rows, in an order: by name, by how many runs fail them, or by what one run does. */
export function matrixOf(runs: readonly TestsOfRun[], by: string, down: boolean): MatrixRow[] {
  const lines = new Map<string, string>();
  for (const { tests } of runs) for (const test of tests) if (!lines.has(test.line)) lines.set(test.line, test.name || test.line);
  const rows = [...lines].map(([line, title]) => ({ line, title, cells: runs.map((run) => run.tests.find((test) => test.line === line) ?? null) }));
  const failures = (row: MatrixRow): number => row.cells.filter((cell) => cell?.verdict === "failed").length;
  const column = runs.findIndex((run) => run.run === by);
  const place = (row: MatrixRow): number => {
    if (column < 0) return -failures(row);
    const cell = row.cells[column];
    return cell ? VERDICTS.indexOf(cell.verdict) : VERDICTS.length;
  };
  const sign = down ? -1 : 1;
  return rows.sort((a, b) => sign * (by === "name" ? a.title.localeCompare(b.title) : place(a) - place(b) || a.title.localeCompare(b.title)));
}
