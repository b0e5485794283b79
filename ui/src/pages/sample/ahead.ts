// Samples that are likely looked at next are asked for before: the next one, and the one under the pointer. Dropped when
// anything of the run may have changed.

const MOST = 4;
const asked = new Map<string, Promise<unknown>>();

export function prepare<T>(key: string, ask: () => Promise<T>): void {
  if (asked.has(key)) return;
  const answer = ask();
  // Whoever takes it sees what went wrong; where nobody does, nothing was lost.
  answer.catch(() => {});
  asked.set(key, answer);
  const oldest = asked.keys().next();
  if (asked.size > MOST && !oldest.done) asked.delete(oldest.value);
}

/** What was asked ahead under this key, or the answer of `ask`. Given once: the next look is a new one. */
export function taken<T>(key: string, ask: () => Promise<T>): Promise<T> {
  const early = asked.get(key) as Promise<T> | undefined;
  asked.delete(key);
  return early ?? ask();
}

export function drop(): void {
  asked.clear();
}
