// The map where the browser has no WebGL2: a fair sample of the points on a plain canvas. Slower and coarser, but the same map.

import { extentOf, fitted, pointDiameter, toScreen, type Extent } from "./camera";
import { rgbOf, type Frame, type Renderer, type Rgb } from "./renderer";
import { DIMMED, HIDDEN, MARKED, type Colours, type Points } from "./types";

/** How many points a plain canvas draws well. */
export const MOST_PLAIN = 50_000;
const DIM = 0.8;
const LAYERS = 3;

export class PlainRenderer implements Renderer {
  extent: Extent | null = null;
  count = 0;
  private points: Points = { x: new Float32Array(0), y: new Float32Array(0) };
  private from: Points | null = null;
  private colours: Colours = { codes: new Uint16Array(0), palette: [] };
  private sizes: Uint8Array | null = null;
  private flags: Uint8Array | null = null;
  private took = 0;

  constructor(private readonly context: CanvasRenderingContext2D) {}

  setPoints(points: Points, from: Points | null): void {
    this.points = points;
    this.from = from?.x.length === points.x.length ? from : null;
    this.extent = extentOf(points);
    this.count = points.x.length;
  }

  setColours(colours: Colours): void {
    this.colours = colours;
  }

  setSizes(sizes: Uint8Array | null): void {
    this.sizes = sizes;
  }

  setFlags(flags: Uint8Array | null): void {
    this.flags = flags;
  }

  draw(frame: Frame): void {
    const begin = performance.now();
    const { context } = this;
    context.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
    context.clearRect(0, 0, frame.width, frame.height);
    const count = Math.min(frame.count, this.count, MOST_PLAIN);
    const dimmed = this.colours.palette.map((colour) => mixed(rgbOf(colour), frame.background, DIM));
    const middle = pointDiameter(count, frame.view.scale / fitted(this.extent, frame).scale);
    for (let layer = 0; layer < (this.flags ? LAYERS : 1); layer++) {
      for (let i = 0; i < count; i++) if (this.layerOf(i) === layer) this.drawPoint(frame, i, middle, dimmed);
    }
    this.took = performance.now() - begin;
  }

  measure(done: (milliseconds: number) => void): void {
    queueMicrotask(() => done(this.took));
  }

  dispose(): void {
    this.count = 0;
  }

  /** What is dimmed lies below what is shown, and that below what is marked; what is hidden is on none. */
  private layerOf(i: number): number {
    const flag = this.flags?.[i];
    if (flag === undefined || flag === DIMMED) return 0;
    return flag === HIDDEN ? -1 : flag === MARKED ? 2 : 1;
  }

  private drawPoint(frame: Frame, i: number, middle: number, dimmed: string[]): void {
    const from = frame.part < 1 && this.from ? this.from : this.points;
    const x = from.x[i]! + (this.points.x[i]! - from.x[i]!) * frame.part, y = from.y[i]! + (this.points.y[i]! - from.y[i]!) * frame.part;
    const [left, top] = toScreen(frame.view, frame, x, y);
    if (!(left >= 0 && left <= frame.width && top >= 0 && top <= frame.height)) return;
    const code = this.colours.codes[i] ?? 0;
    const diameter = this.sizes ? middle * (0.7 + (1.9 * this.sizes[i]!) / 255) : middle;
    this.context.fillStyle = (this.flags?.[i] === DIMMED ? dimmed[code] : this.colours.palette[code]) ?? "#888888";
    this.context.fillRect(left - diameter / 2, top - diameter / 2, diameter, diameter);
  }
}

/** A colour with a part of another in it, for CSS. */
export function mixed(colour: Rgb, other: Rgb, part: number): string {
  const channels = colour.map((one, i) => Math.round(one + (other[i]! - one) * part));
  return `rgb(${channels.join(" ")})`;
}
