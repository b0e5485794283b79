// A sample that is likely looked at next is asked for before; dropped when anything of the run may have changed.

type Asked = { key: string; answer: Promise<unknown> };
let next: Asked | null = null;

export function prepare<T>(key: string, ask: () => Promise<T>): void {
  if (next?.key === key) return;
  const answer = ask();
  // Whoever takes it sees what went wrong; where nobody does, nothing was lost.
  answer.catch(() => {});
  next = { key, answer };
}

/** What was asked ahead under this key, or the answer of `ask`. Given once: the next look is a new one. */
export function taken<T>(key: string, ask: () => Promise<T>): Promise<T> {
  const early = next?.key === key ? (next.answer as Promise<T>) : null;
  if (early) next = null;
  return early ?? ask();
}

export function drop(): void {
  next = null;
}
