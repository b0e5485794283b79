// Commands as a shell takes them.

/** A word of a command, quoted where a shell would take it apart. The `~/` of a home is only understood without quotes. */
export function shellWord(text: string): string {
  const home = text.startsWith("~/") ? "~/" : "";
  const rest = text.slice(home.length);
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `${home}'${rest.replaceAll("'", `'\\''`)}'`;
}

export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

/** The words that name an evaluation; none for the last one, which commands take by themselves. */
export function onEvaluation(evaluation: number | null): string[] {
  return evaluation === null ? [] : ["--evaluation", String(evaluation)];
}

/** Whether what a run says comes next is a command; it may also be a line of code, or a sentence. */
export function isCommand(text: string): boolean {
  return text.startsWith("cutaway ");
}
