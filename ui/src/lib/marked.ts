// Texts in which backticks mark code.

/** A text in parts: what stands between backticks is code. */
export function marked(text: string): { text: string; code: boolean }[] {
  const parts = text.split("`");
  // A backtick without a partner is a plain character.
  if (parts.length % 2 === 0) return [{ text, code: false }];
  return parts.map((part, i) => ({ text: part, code: i % 2 === 1 })).filter((part) => part.text !== "");
}
