// The rows of the table as they are known: pages of them, fetched as they come into sight. A refresh asks again for what
// is in sight and marks the rest as old; what is shown stays until the new answer is there.

import { ApiError, getPage, type PageOf } from "../../api/client";
import type { RunRow } from "../../api/schema";
import type { Query } from "../../lib/address";
import { pagesOf } from "../../components/virtual";

export const PAGE = 100;

export type AskRuns = (query: Query, signal: AbortSignal) => Promise<PageOf<RunRow>>;

export class RunRows {
  total = $state<number | null>(null);
  error = $state.raw<ApiError | undefined>(undefined);
  /** Whether the rows that are shown answer an earlier question. */
  stale = $state(false);
  /** Where the table was scrolled to when it was left. */
  left = 0;
  /** Counts the answers, so that the table draws again. */
  version = $state(0);

  private pages = new Map<number, RunRow[]>();
  private fresh = new Set<number>();
  private asking = new Map<number, AbortController>();
  private query: Query = {};
  private key = "";
  private shown = "";

  constructor(private readonly askRuns: AskRuns = (query, signal) => getPage<RunRow>("runs", query, signal)) {}

  /** What to ask for. Another question forgets the rows of the last one once the first new page is there. */
  ask(query: Query): boolean {
    const key = JSON.stringify(query);
    if (key === this.key) return false;
    this.key = key;
    this.query = query;
    this.left = 0;
    this.stale = this.pages.size > 0;
    this.fresh.clear();
    this.stop();
    return true;
  }

  row(index: number): RunRow | undefined {
    void this.version;
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** The ids of the rows that are known, by place. */
  ids(): Map<number, string> {
    const found = new Map<number, string>();
    for (const [page, rows] of this.pages) rows.forEach((row, i) => found.set(page * PAGE + i, row.id));
    return found;
  }

  indexOf(run: string): number | null {
    for (const [page, rows] of this.pages) {
      const at = rows.findIndex((row) => row.id === run);
      if (at >= 0) return page * PAGE + at;
    }
    return null;
  }

  /** Fetches what is missing or old of the rows from `first` to before `end`. */
  want(first: number, end: number): Promise<void> {
    const missing = pagesOf(first, Math.max(end, first + 1), PAGE).filter((page) => !this.fresh.has(page) && !this.asking.has(page));
    return Promise.all(missing.map((page) => this.fetch(page))).then(() => undefined);
  }

  /** Everything is old from now on. */
  refresh(): void {
    this.fresh.clear();
    this.stop();
  }

  /** Changes a row that is shown, before or after the server knows. */
  patch(run: string, change: Partial<RunRow>): void {
    for (const rows of this.pages.values()) {
      const at = rows.findIndex((row) => row.id === run);
      if (at >= 0) rows[at] = { ...rows[at]!, ...change };
      if (change.baseline) rows.forEach((row, i) => { if (row.id !== run && row.baseline) rows[i] = { ...row, baseline: false }; });
    }
    this.version += 1;
  }

  private stop(): void {
    for (const one of this.asking.values()) one.abort();
    this.asking.clear();
  }

  private forget(): void {
    this.pages.clear();
    this.stale = false;
    this.shown = "";
    this.total = null;
    this.version += 1;
  }

  private async fetch(page: number): Promise<void> {
    const stop = new AbortController();
    const key = this.key;
    this.asking.set(page, stop);
    try {
      const found = await this.askRuns({ ...this.query, offset: page * PAGE, limit: PAGE }, stop.signal);
      if (stop.signal.aborted) return;
      if (this.shown !== key) this.pages.clear();
      this.shown = key;
      this.stale = false;
      this.pages.set(page, found.data);
      this.fresh.add(page);
      this.total = found.total;
      this.error = undefined;
      this.version += 1;
    } catch (cause) {
      if (stop.signal.aborted) return;
      // Rows that answer another question must not stand under this one.
      if (this.shown !== key) this.forget();
      // Not asked again by scrolling: the person tries again.
      this.fresh.add(page);
      this.error = ApiError.from(cause);
    } finally {
      if (this.asking.get(page) === stop) this.asking.delete(page);
    }
  }
}
