// The way back to the population with everything that was chosen there. Remembered while one goes from sample to sample.

const kept = new Map<string, string>();

/** The address of the population that one came from, where `from` or an earlier one is that; else the plain one. */
export function wayBack(run: string, plain: string, from: unknown): string {
  const came = typeof from === "string" ? from : "";
  const path = plain.split("?")[0]!;
  // Only an address of ours, of this very page: `from` is what the browser kept.
  const at = came.indexOf(path);
  const rest = at >= 0 ? came.slice(at + path.length) : null;
  if (rest !== null && (rest === "" || rest.startsWith("?"))) kept.set(run, path + rest);
  return kept.get(run) ?? plain;
}

/** The same with a sample ringed. */
export function withSample(href: string, sample: string): string {
  const [path, query = ""] = href.split("?", 2) as [string, string?];
  const search = new URLSearchParams(query);
  search.set("sample", sample);
  return `${path}?${search.toString()}`;
}
