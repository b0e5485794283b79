// What the page of a population shows: the selection that the address holds, the points that it means, and what is counted
// of them. Every part of the page reads from here, so that all of them show the same selection.

import type { PopulationColumn, PopulationDetail } from "../../api/schema";
import { router } from "../../lib/router.svelte";
import { binned, type Binned } from "../../map/binning";
import { keysOf, type CodedColumn, type Column } from "../../map/columns";
import { ConditionError, holds, noColumn, parseCondition, type Condition } from "../../map/conditions";
import { chosenOf, firstOf, orderOf, together, type Chosen } from "../../map/counting";
import { rowsInside } from "../../map/lasso";
import { isNothing, NO_HISTORY, NOTHING, queryOf, redone, remembered, selectionFrom, undone, type History, type Selection } from "../../map/selection";
import type { Place } from "../../map/types";
import { PopulationData } from "./data.svelte";
import { PopulationRows } from "./rows.svelte";
import { tallied, type Tallies, type Wanted } from "./tally";
import { defaultAgainst, defaultBars, defaultColour, defaultTable } from "./words";

export interface Said {
  text: string;
  condition: Condition | null;
  problem: string;
}

/** As many rows of the table as are sorted at once. */
export const FIRST_ROWS = 200;

export class PopulationView {
  detail = $state.raw<PopulationDetail>() as PopulationDetail;
  readonly data: PopulationData;
  readonly rows: PopulationRows;

  /** The points of the samples that are named (of steps, of a kept selection); null where none are, or not yet. */
  named = $state.raw<Uint8Array | null>(null);
  namedWords = $state("");
  history = $state.raw<History>(NO_HISTORY);
  rings = $state.raw<readonly number[]>([]);

  // A condition or a column that did not change is not looked at again.
  private masks = new Map<string, { of: Column; mask: Uint8Array }>();
  private bins = new WeakMap<Column, Binned>();
  private lassos: { of: object; text: string; mask: Uint8Array } | null = null;

  constructor(
    readonly run: string,
    detail: PopulationDetail,
  ) {
    this.detail = detail;
    this.data = new PopulationData(run);
    this.rows = new PopulationRows(run, () => this.data.loaded?.evaluation ?? null);
  }

  known = $derived.by(() => this.detail.columns.map((one) => one.name));
  byName = $derived.by(() => new Map(this.detail.columns.map((one) => [one.name, one])));
  selection = $derived.by(() => selectionFrom(router.query));
  said = $derived.by<Said[]>(() => this.selection.where.map((text) => this.saying(text)));
  total = $derived.by(() => this.data.loaded?.row.length ?? this.detail.samples);

  mask = $derived.by<Uint8Array | null>(() => this.masked(this.said));
  chosen = $derived.by<Chosen>(() => chosenOf(this.mask));
  count = $derived.by(() => this.chosen?.length ?? this.total);
  /** The selection without what is said of labels and predictions: in the matrix one goes from cell to cell. */
  private beside = $derived.by<Chosen>(() => {
    const others = this.said.filter(({ condition }) => condition?.column !== "label" && condition?.column !== "prediction");
    return others.length === this.said.length ? this.chosen : chosenOf(this.masked(others));
  });
  /** Whether that leaves samples in the matrix that are not selected, which it then says. */
  widened = $derived.by(() => this.beside !== this.chosen);

  // What is shown, as the address has it; a column that this evaluation does not have counts for nothing.
  colour = $derived.by(() => this.asked("color") ?? defaultColour(this.detail.columns));
  size = $derived.by(() => (router.query.get("size") === "none" ? "" : (this.asked("size") ?? (this.byName.has("loss") ? "loss" : ""))));
  bars = $derived.by(() => this.askedList("bars") ?? defaultBars(this.detail.columns));
  against = $derived.by(() => (this.byName.has("loss") ? (this.asked("against") ?? defaultAgainst(this.detail.columns)) : ""));
  table = $derived.by(() => this.askedList("columns") ?? defaultTable(this.detail.columns));
  confused = $derived.by(() => this.byName.has("label") && this.byName.has("prediction") && this.detail.classes.length > 0);
  wanted = $derived.by<Wanted>(() => ({ histograms: this.bars, against: this.against, confusion: this.confused, subsets: this.said.some(({ condition }) => condition?.column === "subset"), legend: this.colour }));
  /** The columns that all this takes. */
  needed = $derived.by(() => {
    const said = this.said.flatMap((one) => (one.condition ? [one.condition.column] : []));
    const answer = ["label", "prediction", "loss", "subset"];
    return [...new Set([...answer, this.colour, this.size, this.against, this.sort.column, ...this.bars, ...this.table, ...said])].filter((name) => this.byName.has(name));
  });

  /** The column that rows are sorted by, and whether the largest come first. */
  sort = $derived.by(() => {
    const text = router.query.get("sort") ?? (this.byName.has("loss") ? "-loss" : "");
    const descending = text.startsWith("-");
    return { column: descending ? text.slice(1) : text, descending };
  });
  private keys = $derived.by(() => {
    const column = this.data.columns.get(this.sort.column);
    return column ? keysOf(column) : null;
  });
  first = $derived.by<Uint32Array>(() => (this.keys ? firstOf(this.keys, this.chosen, FIRST_ROWS, this.sort.descending) : (this.chosen ?? allOf(this.total)).slice(0, FIRST_ROWS)));
  private order = $derived.by<Uint32Array>(() => (this.keys ? orderOf(this.keys, this.chosen, this.sort.descending) : (this.chosen ?? allOf(this.total))));

  tallies = $derived.by<Tallies>(() => tallied(this.wanted, this.chosen, this.beside, (name) => this.data.columns.get(name), (column) => this.binned(column), this.detail.classes));

  /** The point at a place of the table. The whole selection is sorted only where somebody goes beyond its first rows. */
  pointAt(index: number): number {
    return (index < FIRST_ROWS ? this.first : this.order)[index] ?? -1;
  }

  rowOf(point: number): number {
    return this.data.loaded?.row[point] ?? -1;
  }

  binned(column: Column): Binned {
    const found = this.bins.get(column) ?? binned(column);
    this.bins.set(column, found);
    return found;
  }

  column(name: string): Column | undefined {
    return this.data.columns.get(name);
  }

  coded(name: string): CodedColumn | undefined {
    const column = this.data.columns.get(name);
    return column && column.kind !== "number" ? column : undefined;
  }

  about(name: string): PopulationColumn | undefined {
    return this.byName.get(name);
  }

  select(next: Selection): void {
    this.history = remembered(this.history, this.selection);
    this.show(next);
  }

  /** A lasso as it was drawn. How long everything takes that follows from it is measured. */
  lasso(corners: readonly Place[]): void {
    performance.mark("lasso-begins");
    this.select({ ...this.selection, lasso: corners });
    void [this.tallies, this.first, this.count];
    performance.measure("lasso", "lasso-begins");
  }

  clear(): void {
    if (!isNothing(this.selection)) this.select(NOTHING);
  }

  undo(): void {
    const back = undone(this.history, this.selection);
    if (back) this.take(back);
  }

  redo(): void {
    const next = redone(this.history, this.selection);
    if (next) this.take(next);
  }

  private masked(said: readonly Said[]): Uint8Array | null {
    const masks: Uint8Array[] = [];
    for (const { text, condition } of said) {
      const column = condition ? this.data.columns.get(condition.column) : undefined;
      if (condition && column) masks.push(this.holding(text, condition, column));
    }
    const lasso = this.insideLasso();
    if (lasso) masks.push(lasso);
    if (this.named && this.named.length === this.data.loaded?.row.length) masks.push(this.named);
    return together(masks);
  }

  private asked(key: string): string | null {
    const name = router.query.get(key);
    return name !== null && this.byName.has(name) ? name : null;
  }

  private askedList(key: string): string[] | null {
    const names = router.query.getAll(key);
    return names.length === 0 ? null : names.filter((name) => this.byName.has(name));
  }

  private take(step: { history: History; selection: Selection }): void {
    this.history = step.history;
    this.show(step.selection);
  }

  private show(selection: Selection): void {
    router.change(queryOf(selection));
  }

  private saying(text: string): Said {
    try {
      const condition = parseCondition(text, this.known);
      if (!this.byName.has(condition.column)) throw new ConditionError(noColumn(condition.column, this.known));
      const column = this.data.columns.get(condition.column);
      if (column) this.holding(text, condition, column);
      return { text, condition, problem: "" };
    } catch (cause) {
      if (!(cause instanceof ConditionError)) throw cause;
      return { text, condition: null, problem: cause.message };
    }
  }

  private holding(text: string, condition: Condition, of: Column): Uint8Array {
    const kept = this.masks.get(text);
    if (kept?.of === of) return kept.mask;
    if (this.masks.size > 20) this.masks.clear();
    const mask = holds(of, condition);
    this.masks.set(text, { of, mask });
    return mask;
  }

  private insideLasso(): Uint8Array | null {
    const loaded = this.data.loaded;
    if (this.selection.lasso.length === 0 || !loaded?.points) return null;
    const text = this.selection.lasso.join(" ");
    if (this.lassos?.of !== loaded.points || this.lassos.text !== text) this.lassos = { of: loaded.points, text, mask: rowsInside(loaded.points, this.selection.lasso) };
    return this.lassos.mask;
  }
}

function allOf(total: number): Uint32Array {
  return Uint32Array.from({ length: total }, (_, i) => i);
}
