// What the Runs page shows, read from the address and written back to it; the columns are kept for the next visit too.

import type { Query } from "../../lib/address";
import { router } from "../../lib/router.svelte";
import { KEPT_AS, askedColumns, chosenColumns, columnsInAddress, readKept, sameColumns } from "./columns";

export const DEFAULT_SORT = "-created";

class Settings {
  readonly search = $derived(router.query.get("search") ?? "");
  readonly where = $derived(router.query.getAll("where"));
  readonly sort = $derived(router.query.get("sort") ?? DEFAULT_SORT);
  readonly selected = $derived(router.query.getAll("sel"));
  readonly parallel = $derived(router.query.get("view") === "parallel");
  private kept = $state.raw<string[] | null>(keptColumns());
  readonly columns = $derived(chosenColumns(router.query.getAll("columns"), this.kept));

  /** What to ask the server for, in the same words. */
  readonly query: Query = $derived({ search: this.search, where: this.where, sort: this.sort, columns: askedColumns(this.columns) });
  readonly filtered = $derived(this.search !== "" || this.where.length > 0);

  setSearch(search: string): void {
    router.change({ search });
  }
  setWhere(where: readonly string[]): void {
    router.change({ where }, "push");
  }
  setSort(sort: string): void {
    router.change({ sort: sort === DEFAULT_SORT ? "" : sort });
  }
  select(runs: readonly string[]): void {
    router.change({ sel: runs });
  }
  setParallel(parallel: boolean): void {
    router.change({ view: parallel ? "parallel" : "" }, "push");
  }
  setColumns(columns: readonly string[]): void {
    this.kept = [...columns];
    try {
      localStorage.setItem(KEPT_AS, JSON.stringify(columns));
    } catch {
      // Kept for this visit only.
    }
    router.change({ columns: columnsInAddress(columns) });
  }
  clearFilters(): void {
    router.change({ search: "", where: [] }, "push");
  }

  /** Puts kept columns into an address that names none, so that a copied link shows the same. */
  tellColumns(): void {
    const named = router.query.getAll("columns");
    const wanted = columnsInAddress(this.columns);
    if (named.length === 0 && !sameColumns(wanted, [])) router.change({ columns: wanted });
  }
}

function keptColumns(): string[] | null {
  try {
    return readKept(localStorage.getItem(KEPT_AS));
  } catch {
    return null;
  }
}

export const settings = new Settings();
