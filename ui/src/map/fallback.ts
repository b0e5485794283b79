// The map where the browser has no WebGL2: points are put into pixels by hand and shown on a plain canvas. Points are squares,
// and on the way between two maps fewer of them are drawn.

import { extentOf, toScreen, type Extent } from "./camera";
import { between, paintPixels, pixelPalette, type PixelColumns } from "./pixels";
import { DIM, diameters, placed, placesOf, type Frame, type Renderer } from "./renderer";
import { CORNER, SIDE } from "./shaders";
import { MARKED, type Colours, type Points } from "./types";

const MARK = 4;

export class PlainRenderer implements Renderer {
  extent: Extent | null = null;
  count = 0;
  private columns: PixelColumns = { points: { x: new Float32Array(0), y: new Float32Array(0) }, codes: new Uint16Array(0), triangles: null, sizes: null, flags: null };
  private from: Points | null = null;
  private colours: readonly string[] = [];
  private marked: Uint32Array = new Uint32Array(0);
  private image: ImageData | null = null;

  constructor(private readonly context: CanvasRenderingContext2D) {}

  setPoints(points: Points, from: Points | null): void {
    this.columns.points = placed(points);
    this.from = from?.x.length === points.x.length ? placed(from, this.columns.points) : null;
    this.extent = extentOf(points);
    this.count = points.x.length;
  }

  setColours({ codes, palette, triangles }: Colours): void {
    this.columns.codes = codes;
    this.columns.triangles = triangles ?? null;
    this.colours = palette;
  }

  setSizes(sizes: Uint8Array | null): void {
    this.columns.sizes = sizes;
  }

  setFlags(flags: Uint8Array | null): void {
    this.columns.flags = flags;
    this.marked = flags ? placesOf(flags, MARKED) : new Uint32Array(0);
  }

  draw(frame: Frame): void {
    const { width, height } = this.context.canvas;
    if (this.image?.width !== width || this.image.height !== height) this.image = this.context.createImageData(width, height);
    const count = Math.min(frame.count, this.count);
    const travelling = this.from && frame.part < 1;
    const points = travelling ? between(this.from!, this.columns.points, frame.part, count) : this.columns.points;
    const { view, ratio, background } = frame;
    const shown = pixelPalette(this.colours, background, 0), dimmed = pixelPalette(this.colours, background, DIM);
    const diameter = diameters(this, frame, this.columns.sizes !== null);
    const pixels = new Uint32Array(this.image.data.buffer);
    paintPixels(pixels, { ...this.columns, points }, { view, size: { width, height }, ratio, count, ...diameter, upwards: false, shown, dimmed });
    this.context.putImageData(this.image, 0, 0);
    this.drawMarked(frame);
  }

  finished(done: () => void): void {
    done();
  }

  dispose(): void {
    this.image = null;
  }

  private drawMarked(frame: Frame): void {
    const { context } = this;
    context.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
    context.strokeStyle = `rgb(${frame.ink.join(" ")})`;
    context.lineWidth = 1.5;
    for (const i of this.marked) {
      const [left, top] = toScreen(frame.view, frame, this.columns.points.x[i]!, this.columns.points.y[i]!);
      context.fillStyle = this.colours[this.columns.codes[i]!] ?? "";
      context.beginPath();
      if (this.columns.triangles?.[this.columns.codes[i]!]) trianglePath(context, left, top);
      else context.arc(left, top, MARK, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }
}

function trianglePath(context: CanvasRenderingContext2D, left: number, top: number): void {
  const across = MARK * SIDE * Math.sqrt(3);
  context.moveTo(left, top - MARK * CORNER);
  context.lineTo(left + across, top + MARK * SIDE);
  context.lineTo(left - across, top + MARK * SIDE);
  context.closePath();
}
