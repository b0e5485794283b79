// A configuration as a tree to show: parts that fold, values as text.

export interface ConfigNode {
  key: string;
  /** Names it in the whole: `optimizer.groups[0].lr`. */
  path: string;
  /** A value in words, or null for a part. */
  value: string | null;
  kind: "text" | "number" | "flag" | "none" | "part";
  children: ConfigNode[];
}

export function nodesOf(config: Record<string, unknown>): ConfigNode[] {
  return Object.entries(config).map(([key, value]) => node(key, key, value));
}

/** What has all the words in its path or value; a part that has them itself keeps all that is in it. */
export function matching(nodes: readonly ConfigNode[], search: string): ConfigNode[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...nodes];
  return nodes.flatMap((one) => {
    const text = `${one.path} ${one.value ?? ""}`.toLowerCase();
    if (words.every((word) => text.includes(word))) return [one];
    const children = matching(one.children, search);
    return children.length > 0 ? [{ ...one, children }] : [];
  });
}

export function leaves(nodes: readonly ConfigNode[]): number {
  return nodes.reduce((sum, one) => sum + (one.kind === "part" ? leaves(one.children) : 1), 0);
}

function node(key: string, path: string, value: unknown): ConfigNode {
  if (Array.isArray(value) && !value.every(isPlain)) {
    return { key, path, value: null, kind: "part", children: value.map((one, i) => node(`[${i}]`, `${path}[${i}]`, one)) };
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const children = Object.entries(value).map(([inner, one]) => node(inner, `${path}.${inner}`, one));
    if (children.length > 0) return { key, path, value: null, kind: "part", children };
    return { key, path, value: "{}", kind: "none", children: [] };
  }
  return { key, path, ...plain(value), children: [] };
}

function plain(value: unknown): Pick<ConfigNode, "value" | "kind"> {
  if (Array.isArray(value)) return { value: `[${value.map((one) => plain(one).value).join(", ")}]`, kind: "text" };
  if (value === null || value === undefined) return { value: "null", kind: "none" };
  if (typeof value === "number") return { value: String(value), kind: "number" };
  if (typeof value === "boolean") return { value: String(value), kind: "flag" };
  return { value: String(value), kind: "text" };
}

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}
