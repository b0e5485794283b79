// The curves of a run that the page has now. Charts say which they want; what is wanted together is asked for together.
// A window is asked for in full and put between what is known outside of it; a growing run is asked for its tail only.

import { SvelteMap } from "svelte/reactivity";
import { ApiError } from "../../../api/client";
import { appended, lastStep, stitched, type Curve } from "../../../lib/series";

export interface CurveQuestion {
  series: string[];
  from: number | null;
  to: number | null;
}
export type AskCurves = (question: CurveQuestion, signal: AbortSignal) => Promise<Map<string, Curve>>;

const TOGETHER = 50;
/** From so many points on a curve is asked for anew, thinned, instead of growing further. */
const MOST_POINTS = 6000;

const NEAR_STEPS = 300;

export class CurveStore {
  error = $state.raw<ApiError | undefined>(undefined);

  private readonly curves = new SvelteMap<string, Curve>();
  private readonly windows = new SvelteMap<string, Curve>();
  private readonly wanted = new Map<string, number>();
  private readonly asked = new Set<string>();
  private from: number | null = null;
  private to: number | null = null;
  private planned = false;
  private tailing = false;
  private stopper = new AbortController();
  private windowStopper = new AbortController();

  constructor(private readonly ask: AskCurves) {}

  /** What is known of a series now, the window in full once it is there. */
  get(series: string): Curve | undefined {
    return this.windows.get(series) ?? this.curves.get(series);
  }

  all(): Iterable<Curve> {
    return this.curves.values();
  }

  /** Says that series are wanted until the returned function is called. */
  want(series: readonly string[]): () => void {
    for (const one of series) this.wanted.set(one, (this.wanted.get(one) ?? 0) + 1);
    this.plan();
    return () => {
      for (const one of series) {
        const left = (this.wanted.get(one) ?? 1) - 1;
        if (left > 0) this.wanted.set(one, left);
        else this.wanted.delete(one);
      }
    };
  }

  setWindow(from: number | null, to: number | null): void {
    if (from === this.from && to === this.to) return;
    this.from = from;
    this.to = to;
    this.windowStopper.abort();
    this.windowStopper = new AbortController();
    this.windows.clear();
    this.plan();
  }

  /** Asks for what came since the last known points, which may have been renewed. Curves that nobody looks at are forgotten: they come anew. */
  async tail(): Promise<void> {
    if (this.tailing) return;
    this.tailing = true;
    try {
      for (const series of [...this.curves.keys()]) if (!this.wanted.has(series)) this.forget(series);
      const long = [...this.curves].filter(([series, curve]) => curve.step.length > MOST_POINTS && !this.asked.has(series));
      await Promise.all([
        ...this.tails().map(([from, series]) => this.addTail(from, series)),
        ...batches(long.map(([series]) => series)).map((batch) => this.loadWhole(batch)),
      ]);
    } finally {
      this.tailing = false;
    }
  }

  /** Asks for everything anew: steps that were known have been replaced. */
  restart(): void {
    this.stopper.abort();
    this.stopper = new AbortController();
    this.asked.clear();
    this.curves.clear();
    this.windows.clear();
    this.error = undefined;
    this.plan();
  }

  stop(): void {
    this.stopper.abort();
    this.windowStopper.abort();
  }

  private plan(): void {
    if (this.planned) return;
    this.planned = true;
    queueMicrotask(() => {
      this.planned = false;
      this.load();
    });
  }

  private load(): void {
    const wanted = [...this.wanted.keys()];
    for (const batch of batches(wanted.filter((one) => !this.curves.has(one) && !this.asked.has(one)))) void this.loadWhole(batch);
    if (this.from === null && this.to === null) return;
    // One that is exact already needs no second look.
    const thinned = wanted.filter((one) => (this.curves.get(one)?.every ?? 1) > 1);
    const missing = thinned.filter((one) => !this.windows.has(one) && !this.asked.has(`window ${one}`));
    for (const batch of batches(missing)) void this.loadWindow(batch);
  }

  private async loadWhole(series: string[]): Promise<void> {
    for (const one of series) this.asked.add(one);
    await this.attempt(this.stopper.signal, { series, from: null, to: null }, (found) => {
      for (const [key, curve] of found) this.curves.set(key, curve);
      this.plan();
    });
    for (const one of series) this.asked.delete(one);
  }

  private async loadWindow(series: string[]): Promise<void> {
    const [from, to] = [this.from, this.to];
    for (const one of series) this.asked.add(`window ${one}`);
    await this.attempt(this.windowStopper.signal, { series, from, to }, (found) => {
      for (const [key, curve] of found) {
        const overview = this.curves.get(key);
        if (overview) this.windows.set(key, stitched(overview, curve, from, to));
      }
    });
    for (const one of series) this.asked.delete(`window ${one}`);
    if (from !== this.from || to !== this.to) this.plan();
  }

  /** Curves that end within a few steps of each other are asked for together: what is known of one is left out again. */
  private tails(): [number, string[]][] {
    const ends = [...this.curves].filter(([, curve]) => curve.step.length <= MOST_POINTS).map(([series, curve]): [number, string] => [Math.max(0, lastStep(curve)), series]);
    const groups: [number, string[]][] = [];
    for (const [from, series] of ends.sort(([a], [b]) => a - b)) {
      const last = groups.at(-1);
      if (last && from - last[0] <= NEAR_STEPS && last[1].length < TOGETHER) last[1].push(series);
      else groups.push([from, [series]]);
    }
    return groups;
  }

  private async addTail(from: number, series: string[]): Promise<void> {
    await this.attempt(this.stopper.signal, { series, from, to: null }, (found) => {
      for (const [key, tail] of found) {
        const curve = this.curves.get(key);
        if (!curve || tail.step.length === 0) continue;
        this.curves.set(key, appended(curve, tail));
        const shown = this.windows.get(key);
        if (shown) this.windows.set(key, { ...appended(shown, tail), whole: shown.whole });
      }
    });
  }

  private forget(series: string): void {
    this.curves.delete(series);
    this.windows.delete(series);
  }

  private async attempt(signal: AbortSignal, question: CurveQuestion, use: (found: Map<string, Curve>) => void): Promise<void> {
    try {
      const found = await this.ask(question, signal);
      if (signal.aborted) return;
      this.error = undefined;
      use(found);
    } catch (cause) {
      if (!signal.aborted) this.error = ApiError.from(cause);
    }
  }
}

function batches(series: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(series.length / TOGETHER) }, (_, i) => series.slice(i * TOGETHER, (i + 1) * TOGETHER));
}
