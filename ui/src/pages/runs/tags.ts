// Tags as somebody typed them.

/** By commas or lines, each once, without gaps around. */
export function readTags(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((tag) => tag.trim()).filter(Boolean))];
}
