// What a job wrote, as it comes in pieces. Knows no server and no DOM.

import type { JobLog } from "../../api/schema";

export interface Written {
  lines: readonly string[];
  /** Where the next piece begins. */
  next: number;
  ended: boolean;
  /** How many lines at the start were let go: a page has an end, a job may not. */
  dropped: number;
}

export const NOTHING: Written = { lines: [], next: 0, ended: false, dropped: 0 };
export const MOST_LINES = 100_000;
const LONGEST = 4000;

/** With a piece that answers for `from`; one for another place is an old answer and changes nothing. */
export function added(written: Written, from: number, piece: JobLog, most = MOST_LINES): Written {
  if (from !== written.next) return written;
  const lines = piece.lines.length > 0 ? [...written.lines, ...piece.lines.map(shortened)] : written.lines;
  const over = Math.max(0, lines.length - most);
  return { lines: over > 0 ? lines.slice(over) : lines, next: piece.next, ended: piece.ended, dropped: written.dropped + over };
}

/** Whether there is likely more to ask for at once. */
export function hasMore(from: number, piece: JobLog): boolean {
  return piece.next > from && piece.lines.length > 0;
}

/** Whether somebody looks at the end, give or take a few pixels: then new lines are followed. */
export function atEnd(scroll: number, height: number, whole: number): boolean {
  return whole - height - scroll < 6;
}

/** The longest of some lines, for the width of what scrolls. */
export function longest(lines: readonly string[]): number {
  return lines.reduce((most, line) => Math.max(most, line.length), 0);
}

function shortened(line: string): string {
  return line.length > LONGEST ? `${line.slice(0, LONGEST)} … (${line.length - LONGEST} more characters)` : line;
}
