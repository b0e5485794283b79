// Lines of points as paths, and the numbers along an axis. Knows no DOM.

import { extremes, type Values } from "./arrays";

export interface Span {
  low: number;
  high: number;
}

/** From the lowest to the highest value, with room where all are one. */
export function spanOf(values: ArrayLike<number>): Span {
  const found = extremes(values);
  if (!found) return { low: 0, high: 1 };
  if (found.min === found.max) return { low: found.min - (Math.abs(found.min) * 0.1 || 0.5), high: found.max + (Math.abs(found.max) * 0.1 || 0.5) };
  return { low: found.min, high: found.max };
}

export interface Trace {
  path: string;
  /** How many of its values are gaps. */
  gaps: number;
}

/** The traces of [M, N] in a box. Of more points than pixels the extremes of each pixel are kept: no spike is lost. */
export function tracesOf({ values, shape }: Values, span: Span, width: number, height: number): Trace[] {
  const [points = 0, traces = 0] = shape;
  const y = (value: number): number => round(height - ((value - span.low) / (span.high - span.low)) * height);
  return Array.from({ length: traces }, (_, at) => {
    let gaps = 0;
    for (let i = 0; i < points; i++) if (!Number.isFinite(values[i * traces + at]!)) gaps += 1;
    const shown = points > width * 2 ? thinned(values, points, traces, at, width) : Array.from({ length: points }, (__, i) => i);
    let path = "";
    let open = false;
    for (const i of shown) {
      const value = values[i * traces + at]!;
      if (!Number.isFinite(value)) {
        open = false;
        continue;
      }
      path += `${open ? "L" : "M"}${round(points > 1 ? (i / (points - 1)) * width : width / 2)} ${y(value)}`;
      open = true;
    }
    return { path, gaps };
  });
}

function thinned(values: ArrayLike<number>, points: number, traces: number, at: number, width: number): number[] {
  const kept: number[] = [];
  for (let pixel = 0; pixel < width; pixel++) {
    const from = Math.floor((pixel * points) / width);
    const to = Math.floor(((pixel + 1) * points) / width);
    let [low, high, gap] = [-1, -1, -1];
    for (let i = from; i < to; i++) {
      const value = values[i * traces + at]!;
      if (!Number.isFinite(value)) gap = i;
      else {
        if (low < 0 || value < values[low * traces + at]!) low = i;
        if (high < 0 || value > values[high * traces + at]!) high = i;
      }
    }
    kept.push(...[...new Set([low, high, gap])].filter((i) => i >= 0).sort((a, b) => a - b));
  }
  return kept;
}

/** Round numbers within a span, about `count` of them. */
export function ticksOf({ low, high }: Span, count: number): number[] {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((lead) => lead * power).find((one) => one >= raw)!;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)) + 0);
}

/** The x of the first and last point: the given range, or the numbers of the points. */
export function rangeOf(given: readonly number[] | null, points: number): Span {
  return given && given.length === 2 ? { low: given[0]!, high: given[1]! } : { low: 0, high: Math.max(1, points - 1) };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
