// Curves of a run as the studio sends them: taken apart, joined with what came later, and put on an axis.

import type { XRange } from "./chart_data";
import type { XKind } from "./chart_words";
import { grouped } from "./format";

export interface Curve {
  step: Float64Array;
  epoch: Float64Array;
  time: Float64Array;
  value: Float64Array;
  min: Float64Array;
  max: Float64Array;
  nonfinite: Float64Array;
  /** How many values there are, of the run or of the window that was asked for. */
  whole: number;
  /** How many of them one point stands for: 1 where nothing is thinned. */
  every: number;
  /** Where points were not read one by one: how, in words. */
  approximate?: string;
}

type Part = "step" | "epoch" | "time" | "value" | "min" | "max" | "nonfinite";
const PARTS: readonly Part[] = ["step", "epoch", "time", "value", "min", "max", "nonfinite"];

export interface CurveColumns {
  texts(name: string): (string | null)[];
  numbers(name: string): Float64Array;
  about(key: string): string | null;
}

/** An answer of `curves.arrow` by series. Each series is one stretch of rows; one without points here is empty. */
export function curvesOf(columns: CurveColumns): Map<string, Curve> {
  const names = columns.texts("series");
  const parts = PARTS.map((name) => columns.numbers(name));
  const whole = JSON.parse(columns.about("points") ?? "{}") as Record<string, number>;
  const thinned = new Set(JSON.parse(columns.about("thinned") ?? "[]") as string[]);
  const approximate = JSON.parse(columns.about("approximate") ?? "{}") as Record<string, string>;
  const found = new Map<string, Curve>();
  const cut = (from: number, to: number): Curve =>
    ({ ...Object.fromEntries(PARTS.map((name, i) => [name, parts[i]!.subarray(from, to)])), whole: to - from, every: 1 }) as unknown as Curve;
  for (let from = 0; from < names.length; ) {
    let to = from + 1;
    while (to < names.length && names[to] === names[from]) to += 1;
    found.set(names[from]!, cut(from, to));
    from = to;
  }
  for (const key of Object.keys(whole)) if (!found.has(key)) found.set(key, cut(0, 0));
  for (const [key, curve] of found) {
    const values = whole[key] ?? curve.whole;
    const every = thinned.has(key) ? Math.max(2, Math.round(values / Math.max(1, curve.step.length))) : 1;
    found.set(key, { ...curve, whole: values, every, ...(approximate[key] ? { approximate: approximate[key] } : {}) });
  }
  return found;
}

export function lastStep(curve: Curve): number {
  return curve.step.length ? curve.step[curve.step.length - 1]! : -1;
}

/** A curve with its tail. Where both have a step the tail is newer; a point that stands for several values stays. */
export function appended(curve: Curve, tail: Curve): Curve {
  if (tail.step.length === 0) return curve;
  const last = lastStep(curve);
  if (curve.every === 1) {
    const kept = firstAt(curve.step, tail.step[0]!);
    if (kept === curve.step.length - tail.step.length && lastStep(tail) === last && curve.value.at(-1) === tail.value.at(-1)) return curve;
    return { ...joined([slice(curve, 0, kept), tail]), whole: curve.whole - (curve.step.length - kept) + tail.whole, every: tail.every };
  }
  const from = firstAt(tail.step, last + 1);
  if (from === tail.step.length) return curve;
  const added = joined([curve, slice(tail, from, tail.step.length)]);
  return { ...added, whole: curve.whole + tail.step.length - from, every: curve.every };
}

/** The window of a curve in full, between what is known outside: lines go on to the edges. */
export function stitched(overview: Curve, window: Curve, from: number | null, to: number | null): Curve {
  const before = from === null ? 0 : firstAt(overview.step, from);
  const after = to === null ? overview.step.length : firstAt(overview.step, to + 1);
  const all = joined([slice(overview, 0, before), window, slice(overview, Math.max(after, before), overview.step.length)]);
  return { ...all, whole: window.whole, every: window.every };
}

export type Axis = "step" | "epoch" | "time" | "wall";
export const AXES: Record<Axis, { title: string; label: string; kind: XKind }> = {
  step: { title: "Step", label: "step", kind: "number" },
  epoch: { title: "Epoch", label: "epoch", kind: "number" },
  time: { title: "Time since start", label: "after", kind: "duration" },
  wall: { title: "Clock", label: "at", kind: "clock" },
};

/** Where the points of a curve are on an axis; `start` is when the run began. */
export function placesOf(curve: Curve, axis: Axis, start: number): Float64Array {
  if (axis === "step") return curve.step;
  if (axis === "epoch") return curve.epoch;
  return axis === "wall" ? curve.time : curve.time.map((time) => time - start);
}

/** Steps beside their places on an axis, from every curve that is known: from one to the other and back. */
export class AxisMap {
  private constructor(
    private readonly steps: readonly number[],
    private readonly places: readonly number[],
  ) {}

  static of(curves: Iterable<Curve>, axis: Axis, start: number): AxisMap {
    const found = new Map<number, number>();
    for (const curve of curves) {
      const places = placesOf(curve, axis, start);
      for (let i = 0; i < places.length; i++) if (Number.isFinite(places[i])) found.set(curve.step[i]!, places[i]!);
    }
    const steps = [...found.keys()].sort((a, b) => a - b);
    return new AxisMap(steps, steps.map((step) => found.get(step)!));
  }

  get extent(): XRange | null {
    return this.places.length ? { min: this.places[0]!, max: this.places.at(-1)! } : null;
  }

  get lastStep(): number | null {
    return this.steps.at(-1) ?? null;
  }

  place(step: number): number | null {
    return between(this.steps, this.places, step);
  }

  step(place: number): number | null {
    return between(this.places, this.steps, place);
  }
}

/** How much of what there is is shown, in words. */
export function shownNote(curves: readonly Curve[]): string {
  const whole = Math.max(0, ...curves.map((curve) => curve.whole));
  const every = Math.max(1, ...curves.map((curve) => curve.every));
  const { approximate } = saidOf(curves);
  if (whole === 0) return "";
  if (approximate) return approximate;
  return every > 1 ? `1 in ${every} of ${grouped(whole)} values` : whole === 1 ? "1 value" : `all ${grouped(whole)} values`;
}

function between(from: readonly number[], to: readonly number[], value: number): number | null {
  if (from.length === 0) return null;
  const at = firstAt(from, value);
  if (at === 0) return to[0]!;
  if (at === from.length) return to.at(-1)!;
  const [a, b] = [from[at - 1]!, from[at]!];
  const share = b > a ? (value - a) / (b - a) : 1;
  return to[at - 1]! + share * (to[at]! - to[at - 1]!);
}

function firstAt(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function slice(curve: Curve, from: number, to: number): Curve {
  const parts = Object.fromEntries(PARTS.map((name) => [name, curve[name].subarray(from, to)])) as unknown as Curve;
  return { ...parts, whole: to - from, every: curve.every, ...saidOf([curve]) };
}

function joined(curves: readonly Curve[]): Curve {
  const length = curves.reduce((sum, curve) => sum + curve.step.length, 0);
  const parts = PARTS.map((name) => {
    const all = new Float64Array(length);
    let at = 0;
    for (const curve of curves) {
      all.set(curve[name], at);
      at += curve[name].length;
    }
    return [name, all];
  });
  return { ...(Object.fromEntries(parts) as unknown as Curve), whole: length, every: 1, ...saidOf(curves) };
}

function saidOf(curves: readonly Curve[]): Pick<Curve, "approximate"> {
  const approximate = curves.find((curve) => curve.approximate)?.approximate;
  return approximate ? { approximate } : {};
}
