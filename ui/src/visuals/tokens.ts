// Tokens of a text: those that are shown, and what stands behind each. Knows no DOM.

export interface Token {
  text: string;
  /** Its place in the text, by which heat maps and masks name it. */
  at: number;
}

/** Without padding: tokens that are empty. */
export function shownTokens(tokens: readonly string[]): Token[] {
  return tokens.map((text, at) => ({ text, at })).filter((one) => one.text !== "");
}

export interface Stretch {
  label: number;
  tokens: Token[];
}

/** Neighbours of one label are one stretch, so that its name is said once. */
export function stretchesOf(tokens: readonly Token[], mask: ArrayLike<number>): Stretch[] {
  const found: Stretch[] = [];
  for (const token of tokens) {
    const label = mask[token.at] ?? 0;
    const last = found.at(-1);
    if (last && last.label === label) last.tokens.push(token);
    else found.push({ label, tokens: [token] });
  }
  return found;
}

/** The strongest tokens in words, for those who see no tint. */
export function strongest(tokens: readonly Token[], heat: ArrayLike<number>, count: number): Token[] {
  return tokens.toSorted((a, b) => Math.abs(heat[b.at] ?? 0) - Math.abs(heat[a.at] ?? 0)).slice(0, count);
}
