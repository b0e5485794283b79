// Which rows of a long table are in sight, and which pages of rows that takes. Rows are all of one height.

export interface Window {
  /** The first row that is drawn, and one past the last. */
  first: number;
  end: number;
  /** The heights that stand for the rows before and after. */
  before: number;
  after: number;
}

/** `over` rows are drawn beyond both edges, so that scrolling shows no holes. */
export function windowOf(scroll: number, height: number, row: number, total: number, over = 8): Window {
  const from = Math.floor(Math.max(0, scroll) / row);
  const to = Math.ceil((Math.max(0, scroll) + Math.max(0, height)) / row);
  const end = Math.min(total, to + over);
  const first = Math.max(0, Math.min(from - over, end));
  return { first, end, before: first * row, after: (total - end) * row };
}

/** The numbers of the pages that hold the rows from `first` to before `end`. */
export function pagesOf(first: number, end: number, size: number): number[] {
  if (end <= first) return [];
  const from = Math.floor(first / size);
  const to = Math.floor((end - 1) / size);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** Where to scroll so that a row is in sight; the same place when it is already. `above` of the view is covered by what sticks. */
export function scrollFor(index: number, scroll: number, height: number, row: number, above = 0): number {
  const top = index * row;
  if (top < scroll) return top;
  const lowest = top + row - (height - above);
  return lowest > scroll ? lowest : scroll;
}
