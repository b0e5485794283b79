// Which runs are selected, in the order in which they were: what the address holds and Compare gets.

/** So many runs can be compared at once. */
export const MOST_COMPARED = 50;

export function toggledRun(selected: readonly string[], run: string): string[] {
  return selected.includes(run) ? selected.filter((one) => one !== run) : [...selected, run];
}

/** What a shift-click selects: all from the last one that was pressed to this one, by their places in the table. */
export function withRange(selected: readonly string[], ids: ReadonlyMap<number, string>, from: number, to: number): string[] {
  const found = [...selected];
  const step = from <= to ? 1 : -1;
  for (let i = from; i !== to + step; i += step) {
    const run = ids.get(i);
    if (run !== undefined && !found.includes(run)) found.push(run);
  }
  return found;
}
