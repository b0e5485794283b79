// The plotting library's options for a chart of ours: colours of the theme, quiet axes, zoom by dragging.

import type uPlot from "uplot";
import { columnsOf, type ChartSeries, type Dash, type XRange } from "./chart_data";
import { duration, number } from "./format";
import { shortNumber, type XKind } from "./chart_words";

export interface Palette {
  ink: string;
  faint: string;
  grid: string;
  bad: string;
  warn: string;
  series: string[];
}

/** The theme's colours as they are now. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    ink: read("--ink-soft"),
    faint: read("--ink-faint"),
    grid: read("--line-soft"),
    bad: read("--bad"),
    warn: read("--warn"),
    series: Array.from({ length: 8 }, (_, i) => read(`--series-${i + 1}`)),
  };
}

export const DASHES: Record<Dash, number[]> = { solid: [], dashed: [6, 3], dotted: [2, 3] };

export function colourOf(palette: Palette, colour: number): string {
  return palette.series[(colour - 1) % palette.series.length]!;
}

/** A colour `#rrggbb` with a share of its strength. */
export function faded(colour: string, share: number): string {
  const alpha = Math.round(share * 255).toString(16).padStart(2, "0");
  return /^#[0-9a-f]{6}$/i.test(colour) ? colour + alpha : colour;
}

export interface Wishes {
  series: readonly ChartSeries[];
  palette: Palette;
  width: number;
  height: number;
  log: boolean;
  kind: XKind;
  sync: string | undefined;
  /** Read at every drawing: the range belongs to the page. */
  range: () => XRange;
  zoomed: (range: XRange | null) => void;
  pointed: (plot: uPlot) => void;
  drawn: (plot: uPlot) => void;
}

export function optionsOf(wishes: Wishes): uPlot.Options {
  const { palette, log } = wishes;
  return {
    width: wishes.width,
    height: wishes.height,
    padding: [10, 10, 0, 0],
    legend: { show: false },
    series: [{}, ...seriesOf(wishes)],
    bands: bandsOf(wishes),
    scales: {
      x: { time: wishes.kind === "clock", range: () => [wishes.range().min, wishes.range().max] },
      y: log ? { distr: 3, range: logRange } : { range: linearRange },
    },
    axes: [
      { ...axisOf(palette), size: wishes.kind === "clock" ? 40 : 26, space: 60, ...(wishes.kind === "clock" ? {} : { values: xValues(wishes.kind) }) },
      { ...axisOf(palette), size: widthOf, space: 28, ...(log ? {} : { incrs: INCREMENTS, splits: splitsOf }), values: (_, splits) => splits.map((value) => (log && !isRound(value) ? "" : shortNumber(value))) },
    ],
    cursor: cursorOf(wishes),
    hooks: {
      setSelect: [(plot) => selected(plot, wishes.zoomed)],
      setCursor: [wishes.pointed],
      draw: [wishes.drawn],
    },
  };
}

function seriesOf({ series, palette }: Wishes): uPlot.Series[] {
  return columnsOf(series).map(({ series: at, part }) => {
    const one = series[at]!;
    const colour = colourOf(palette, one.colour);
    if (part !== "values") return { width: 0, stroke: "transparent", points: { show: false } };
    return {
      label: one.label,
      stroke: one.faint ? faded(colour, 0.28) : colour,
      width: one.faint ? 1 : 1.5,
      dash: DASHES[one.dash ?? "solid"],
      // A single value between gaps has no line: without its dot it would not be seen.
      points: one.faint ? { show: false } : { size: 5, fill: colour, width: 0, stroke: colour },
    };
  });
}

function bandsOf({ series, palette }: Wishes): uPlot.Band[] {
  const columns = columnsOf(series);
  return columns.flatMap(({ series: at, part }, i) =>
    part === "max" ? [{ series: [i + 1, i + 2], fill: faded(colourOf(palette, series[at]!.colour), 0.32) } satisfies uPlot.Band] : [],
  );
}

function cursorOf({ sync, zoomed, series, palette }: Wishes): uPlot.Cursor {
  const columns = columnsOf(series);
  const shown = columns.map(({ series: at, part }) => part === "values" && !series[at]!.faint);
  return {
    y: false,
    drag: { x: true, y: false, setScale: false },
    points: {
      size: (_, i) => (shown[i - 1] ? 7 : 0),
      width: 0,
      fill: (_, i) => colourOf(palette, series[columns[i - 1]?.series ?? 0]?.colour ?? 1),
    },
    bind: {
      dblclick: () => () => {
        zoomed(null);
        return null;
      },
    },
    // Only where the pointer is travels between charts; a zoom does by the page.
    ...(sync ? { sync: { key: sync, setSeries: false, scales: ["x", null], filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } } } : {}),
  };
}

function selected(plot: uPlot, zoomed: (range: XRange) => void): void {
  const { left, width } = plot.select;
  if (width < 4) return;
  const range = { min: plot.posToVal(left, "x"), max: plot.posToVal(left + width, "x") };
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  zoomed(range);
}

function axisOf(palette: Palette): uPlot.Axis {
  return {
    stroke: palette.faint,
    font: "11px system-ui, sans-serif",
    gap: 4,
    grid: { stroke: palette.grid, width: 1 },
    ticks: { stroke: palette.grid, width: 1, size: 4 },
  };
}

function xValues(kind: XKind): uPlot.Axis.DynamicValues {
  return (_, splits) => splits.map((value) => (kind === "duration" ? duration(value) : number(value, 6)));
}

/** A power of ten, or twice or five times one: the ends of a log scale are labelled otherwise with whatever they are. */
function isRound(value: number | null): boolean {
  if (value === null || value <= 0) return false;
  const lead = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5].some((one) => Math.abs(lead - one) < 1e-6);
}

// The library's own end at 1e32, where a loss that explodes in 32 bits does not.
const INCREMENTS = Array.from({ length: 341 }, (_, i) => i - 32).flatMap((power) => [1, 2, 2.5, 5].map((lead) => Number(`${lead}e${power}`)));

function splitsOf(_: uPlot, __: number, min: number, max: number, increment: number): number[] {
  const first = Math.ceil(min / increment);
  const count = Math.min(100, Math.floor(max / increment) - first + 1);
  return Array.from({ length: Math.max(0, count) }, (___, i) => Number(((first + i) * increment).toPrecision(12)));
}

function widthOf(_: uPlot, values: string[] | null): number {
  const longest = Math.max(0, ...(values ?? []).map((value) => value?.length ?? 0));
  // Charts under each other align: most labels fit the least width.
  return Math.max(48, 14 + longest * 6.5);
}

function linearRange(_: uPlot, min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
  // What differs in its last digits only is flat: smoothing a constant gives such.
  const flat = max - min <= 1e-9 * Math.max(Math.abs(min), Math.abs(max));
  const room = !flat ? (max - min) * 0.06 : Math.abs(max) * 0.1 || 1;
  return [min - room, max + room];
}

function logRange(_: uPlot, min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || !(min > 0) || !Number.isFinite(max)) return [1, 10];
  const low = Math.log10(min);
  const high = Math.log10(max);
  const room = high > low ? (high - low) * 0.06 : 0.5;
  return [10 ** (low - room), 10 ** (high + room)];
}
