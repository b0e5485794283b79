// Addresses of pages: from a path and query to a route and back. Knows no window.

export type PageName =
  | "runs"
  | "run"
  | "population"
  | "sample"
  | "insights"
  | "model"
  | "layers"
  | "config"
  | "tensors"
  | "findings"
  | "finding"
  | "samples"
  | "steering"
  | "compare"
  | "jobs"
  | "job"
  | "missing";

export interface Route {
  page: PageName;
  run?: string;
  finding?: string;
  job?: string;
}

const TABS: readonly PageName[] = ["population", "sample", "insights", "model", "layers", "config", "tensors", "findings", "samples", "steering"];

/** What a path below the studio's root shows. */
export function routeOf(path: string): Route {
  const parts = path.split("/").filter(Boolean).map(decoded);
  const [first, run, tab, item] = parts;
  if (parts.length === 0 || (first === "runs" && parts.length === 1)) return { page: "runs" };
  if (first === "compare" && parts.length === 1) return { page: "compare" };
  if (first === "jobs" && parts.length === 1) return { page: "jobs" };
  if (first === "jobs" && run !== undefined && parts.length === 2) return { page: "job", job: run };
  if (first !== "runs" || run === undefined) return { page: "missing" };
  if (parts.length === 2) return { page: "run", run };
  if (tab === "findings" && item !== undefined && parts.length === 4) return { page: "finding", run, finding: item };
  const known = TABS.find((name) => name === tab);
  return known && parts.length === 3 ? { page: known, run } : { page: "missing" };
}

/** The path of a route, relative to the studio's root. */
export function pathOf(route: Route): string {
  if (route.page === "runs" || route.page === "missing") return "runs";
  if (route.page === "compare" || route.page === "jobs") return route.page;
  if (route.page === "job") return `jobs/${encodeURIComponent(route.job ?? "")}`;
  const run = `runs/${encodeURIComponent(route.run ?? "")}`;
  if (route.page === "run") return run;
  if (route.page === "finding") return `${run}/findings/${encodeURIComponent(route.finding ?? "")}`;
  return `${run}/${route.page}`;
}

export type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>;

/** Names and values of a query in their order; what is empty is left out. */
export function pairsOf(query: Query): [string, string][] {
  return Object.entries(query).flatMap(([key, value]): [string, string][] => {
    if (value === null || value === undefined || value === "" || value === false) return [];
    return typeof value === "object" ? value.map((one): [string, string] => [key, one]) : [[key, String(value)]];
  });
}

/** A query string with its `?`, or nothing. */
export function queryText(query: Query): string {
  const text = new URLSearchParams(pairsOf(query)).toString();
  return text ? `?${text}` : "";
}

/** The path and the query behind the `#` of an address. */
export function placeIn(hash: string): { path: string; search: string } {
  const [path = "", ...query] = hash.replace(/^#\/?/, "").split("?");
  return { path, search: query.length ? `?${query.join("?")}` : "" };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
