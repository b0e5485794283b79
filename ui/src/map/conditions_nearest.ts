// The known names that are nearest to one that somebody wrote.

/** How alike two texts are, from 0 to 1: twice what they share, in order, over their lengths. */
export function likeness(a: string, b: string): number {
  const whole = a.length + b.length;
  return whole === 0 ? 1 : (2 * shared(a, b)) / whole;
}

function shared(a: string, b: string): number {
  let [size, startA, startB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j < b.length; j++) {
      let k = 0;
      while (i + k < a.length && j + k < b.length && a[i + k] === b[j + k]) k++;
      if (k > size) [size, startA, startB] = [k, i, j];
    }
  if (size === 0) return 0;
  return size + shared(a.slice(0, startA), b.slice(0, startB)) + shared(a.slice(startA + size), b.slice(startB + size));
}

export function nearest(name: string, known: readonly string[], most = 3): string[] {
  const lowered = name.toLowerCase();
  const near = known
    .map((one) => ({ one, like: likeness(lowered, one.toLowerCase()) }))
    .filter(({ like }) => like >= 0.5)
    .sort((a, b) => b.like - a.like)
    .slice(0, most)
    .map(({ one }) => one);
  const short = name.length > 1 ? known.filter((one) => one.toLowerCase().startsWith(lowered)) : [];
  return [...new Set([...near, ...short])].slice(0, most);
}

/** ` Did you mean 'a' or 'b'?`, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearest(name, known).map((one) => `'${one}'`);
  if (near.length === 0) return "";
  return ` Did you mean ${near.length === 1 ? near[0]! : `${near.slice(0, -1).join(", ")} or ${near.at(-1)!}`}?`;
}
