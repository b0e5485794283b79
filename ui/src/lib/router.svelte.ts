// Where the page is: the URL is the state. `router.route` and `router.query` are reactive; `go` and `change` move.

import { copy, frozen } from "../api/frozen";
import { pathOf, placeIn, queryText, routeOf, type Query, type Route } from "./address";

const base = new URL(document.baseURI).pathname;
const root = frozen ? "#/" : base;

class Router {
  route = $state<Route>({ page: "runs" });
  query = $state<URLSearchParams>(new URLSearchParams());

  constructor() {
    this.read();
    window.addEventListener("popstate", () => this.read());
    // Somebody writes another address behind the # of a frozen copy.
    if (frozen) window.addEventListener("hashchange", () => this.read());
  }

  /** The address of a page, for `href`. */
  href(route: Route, query: Query = {}): string {
    return root + pathOf(route) + queryText(query);
  }

  go(route: Route, query: Query = {}): void {
    this.open(this.href(route, query));
  }

  /** Follows an address of ours. */
  open(href: string): void {
    // Where one came from, for a page that leads back there with everything that was chosen.
    history.pushState({ from: location.href }, "", href);
    this.read();
    window.scrollTo(0, 0);
  }

  /** Changes some of the query and keeps the rest. `replace` leaves no trace in the history (sliders, typing). */
  change(changes: Query, how: "push" | "replace" = "replace"): void {
    const here = place();
    const search = new URLSearchParams(here.search);
    for (const key of Object.keys(changes)) search.delete(key);
    const kept = search.toString();
    const added = queryText(changes).slice(1);
    const text = [kept, added].filter(Boolean).join("&");
    const href = (frozen ? root + here.path : location.pathname) + (text ? `?${text}` : "");
    if (how === "push") history.pushState(null, "", href);
    else history.replaceState(null, "", href);
    this.query = new URLSearchParams(place().search);
  }

  /** A whole number of the query, or the fallback. */
  number(key: string): number | null {
    const text = this.query.get(key);
    const value = text === null || text === "" ? NaN : Number(text);
    return Number.isFinite(value) ? value : null;
  }

  private read(): void {
    const { path, search } = place();
    const route = routeOf(path);
    // A frozen copy is one run: there are no others beside it, and no jobs.
    const elsewhere = frozen && route.run === undefined && route.page !== "missing";
    this.route = elsewhere ? { page: "run", run: copy.run } : route;
    this.query = new URLSearchParams(search);
  }
}

export const router = new Router();

/** Where this page is, below the root: what follows the # in a frozen copy, which has one file for all addresses. */
function place(): { path: string; search: string } {
  if (frozen) return placeIn(location.hash);
  return { path: location.pathname.startsWith(base) ? location.pathname.slice(base.length) : location.pathname, search: location.search };
}

/** For `onclick` on the whole page: plain clicks on links of ours stay in the page. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  if (frozen) {
    if (!link.getAttribute("href")?.startsWith(root)) return;
    event.preventDefault();
    router.open(url.hash);
    return;
  }
  if (url.origin !== location.origin || !url.pathname.startsWith(base) || url.pathname.startsWith(`${base}api/`)) return;
  if (url.hash && url.pathname === location.pathname && url.search === location.search) return;
  event.preventDefault();
  router.open(url.pathname + url.search);
}
