// Rows of a long list, asked for page by page as they come into sight. A new question keeps the old rows until its first
// answer is there; `reload` asks again for what is in sight.

import { untrack } from "svelte";
import { ApiError, type PageOf } from "../../../api/client";
import { pagesOf } from "../../../components/virtual";

export type Ask<T> = (offset: number, limit: number, signal: AbortSignal) => Promise<PageOf<T>>;

export interface PagedRows<T> {
  /** How many there are; null until that is known. */
  readonly total: number | null;
  readonly error: ApiError | undefined;
  at(index: number): T | undefined;
  /** Says which rows are in sight. */
  want(first: number, end: number): void;
  reload(): void;
}

/** `question` runs inside an effect: what it reads before it returns is what the rows depend on. */
export function pagedRows<T>(question: () => Ask<T>, size = 200): PagedRows<T> {
  let pages = $state.raw<ReadonlyMap<number, T[]>>(new Map());
  let total = $state<number | null>(null);
  let error = $state.raw<ApiError | undefined>(undefined);
  let round = $state(0);
  let sight: number[] = [0];
  let load: ((page: number) => void) | undefined;

  $effect(() => {
    void round;
    const ask = question();
    const stop = new AbortController();
    const asked = new Set<number>();
    let first = true;
    load = (page) => {
      if (asked.has(page)) return;
      asked.add(page);
      ask(page * size, size, stop.signal).then(
        (answer) => {
          if (stop.signal.aborted) return;
          pages = new Map(first ? [] : pages).set(page, answer.data);
          total = answer.total;
          error = undefined;
          first = false;
        },
        (cause: unknown) => {
          if (!stop.signal.aborted) error = ApiError.from(cause);
          asked.delete(page);
        },
      );
    };
    untrack(() => sight.forEach((page) => load?.(page)));
    return () => stop.abort();
  });

  return {
    get total() {
      return total;
    },
    get error() {
      return error;
    },
    at: (index) => pages.get(Math.floor(index / size))?.[index % size],
    want(from, end) {
      sight = pagesOf(from, Math.max(end, from + 1), size);
      for (const page of sight) load?.(page);
    },
    reload() {
      round += 1;
    },
  };
}
