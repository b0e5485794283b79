// How well a name answers what somebody typed: letters in their order, better at the beginnings of words and side by side.

/** Higher is better; null where a letter is missing. Nothing typed answers to everything alike. */
export function fuzzyScore(typed: string, name: string): number | null {
  const wanted = typed.toLowerCase().replace(/\s+/g, "");
  if (wanted === "") return 0;
  const text = name.toLowerCase();
  const whole = text.indexOf(typed.trim().toLowerCase());
  // Found as it was typed: before everything that only has its letters somewhere; at the start of a word before others.
  if (whole >= 0) return 1000 + (startsWord(name, whole) ? 100 : 0) - whole * 0.1 - name.length * 0.01;
  let score = 0;
  let at = -1;
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return null;
    score += next === at + 1 ? 8 : startsWord(name, next) ? 6 : 1;
    score -= Math.min(4, (next - at - 1) * 0.2);
    at = next;
  }
  return score - name.length * 0.01;
}

/** What answers, the best first; those that answer alike stay in their order. */
export function ranked<T>(items: readonly T[], typed: string, name: (item: T) => string, most: number): T[] {
  return items
    .map((item) => ({ item, score: fuzzyScore(typed, name(item)) }))
    .filter((one): one is { item: T; score: number } => one.score !== null)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map((one) => one.item);
}

function startsWord(name: string, at: number): boolean {
  if (at === 0) return true;
  const [before, here] = [name[at - 1]!, name[at]!];
  return /[\s._/@:-]/.test(before) || (before === before.toLowerCase() && here !== here.toLowerCase());
}
