// Draws points with WebGL2: own buffers, one for each column, so that only what changed is sent to the graphics card. Draws
// when it is told to and knows nothing of pointers, time or pages.

import { fitted, extentOf, pointDiameter, type Extent } from "./camera";
import { between, paintPixels, pixelPalette, type PixelColumns } from "./pixels";
import { isSoftware, nearestPixels, Picture, Programs } from "./programs";
import { PALETTE_WIDTH } from "./shaders";
import { MARKED, SHOWN, type Colours, type Points, type View } from "./types";

export type Rgb = readonly [red: number, green: number, blue: number];

/** What one picture is made of, beside the columns. */
export interface Frame {
  view: View;
  /** CSS pixels. */
  width: number;
  height: number;
  /** Device pixels in a CSS pixel. */
  ratio: number;
  /** How many of the points, from the first on: their order is random, so the first are a fair sample. */
  count: number;
  /** From the places before (0) to those now (1). */
  part: number;
  background: Rgb;
  ink: Rgb;
}

export interface Renderer {
  readonly extent: Extent | null;
  readonly count: number;
  /** New places; `from` are those that the points come from. */
  setPoints(points: Points, from: Points | null): void;
  setColours(colours: Colours): void;
  setSizes(sizes: Uint8Array | null): void;
  setFlags(flags: Uint8Array | null): void;
  draw(frame: Frame): void;
  /** Says once, later, that the graphics card is done with what was drawn last. */
  finished(done: () => void): void;
  dispose(): void;
}

// Smaller than this, in device pixels, a disc and a square are the same to the eye.
const SHAPELESS = 4;
// So many points a processor draws quickly whatever they look like; of more, those of at least this diameter.
const FEW = 5000;
const LARGE = 16;
// The diameter of the smallest and of the largest point, as a part of the middle one.
const SMALLEST = 0.7;
const LARGEST = 2.6;
// How much of a dimmed point's colour is the background's.
export const DIM = 0.8;
// Outside of every view, yet finite: what NaN does in a shader differs between cards.
const NOWHERE = 1e20;
const NO_POINTS: Points = { x: new Float32Array(0), y: new Float32Array(0) };
const COLUMNS = ["x", "y", "code", "size", "flag", "fromX", "fromY"] as const;
type Column = (typeof COLUMNS)[number];

export class PointRenderer implements Renderer {
  extent: Extent | null = null;
  count = 0;
  private readonly buffers = new Map<Column, WebGLBuffer>();
  private readonly programs: Programs;
  private readonly picture: Picture;
  private readonly palette: WebGLTexture;
  private readonly markedBuffer: WebGLBuffer;
  /** Columns that the card does not have yet as they are. */
  private readonly changed = new Set<Column>();
  private columns: PixelColumns = { points: NO_POINTS, codes: new Uint16Array(0), triangles: null, sizes: null, flags: null };
  private from: Points | null = null;
  private colours: readonly string[] = [];
  private marked: Uint32Array = new Uint32Array(0);
  private waiting: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    /** Whether many points are put into pixels here and not by the card. */
    private readonly byHand = isSoftware(gl),
  ) {
    for (const name of COLUMNS) this.buffers.set(name, gl.createBuffer());
    this.palette = gl.createTexture();
    this.markedBuffer = gl.createBuffer();
    this.programs = new Programs(gl);
    this.picture = new Picture(gl);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.changed.add("size").add("flag");
  }

  setPoints(points: Points, from: Points | null): void {
    this.count = points.x.length;
    this.extent = extentOf(points);
    this.columns.points = placed(points);
    this.from = from && from.x.length === this.count ? placed(from, this.columns.points) : null;
    for (const name of ["x", "y", "fromX", "fromY"] as const) this.changed.add(name);
  }

  setColours({ codes, palette, triangles }: Colours): void {
    const gl = this.gl;
    this.columns.codes = codes;
    this.columns.triangles = triangles ?? null;
    this.colours = palette;
    this.changed.add("code");
    const rows = Math.max(1, Math.ceil(palette.length / PALETTE_WIDTH));
    const pixels = new Uint32Array(rows * PALETTE_WIDTH);
    // In the texture, a colour of triangles has no alpha: that is how the shaders know.
    pixels.set(pixelPalette(palette, [0, 0, 0], 0).map((one, i) => (triangles?.[i] ? one & 0xffffff : one)));
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, PALETTE_WIDTH, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(pixels.buffer));
    nearestPixels(gl);
  }

  setSizes(sizes: Uint8Array | null): void {
    this.columns.sizes = sizes;
    this.changed.add("size");
  }

  setFlags(flags: Uint8Array | null): void {
    const gl = this.gl;
    this.columns.flags = flags;
    this.changed.add("flag");
    this.marked = flags ? placesOf(flags, MARKED) : new Uint32Array(0);
    if (!this.marked.length) return;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.markedBuffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, this.marked, gl.DYNAMIC_DRAW);
  }

  draw(frame: Frame): void {
    const gl = this.gl;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const count = Math.min(frame.count, this.count);
    if (!count) return;
    const diameter = diameters(this, frame, this.columns.sizes !== null);
    const largest = diameter.smallest + diameter.range;
    const round = largest >= SHAPELESS;
    if (this.byHand && (!round || (count > FEW && largest < LARGE * frame.ratio))) this.drawByHand(frame, diameter, count);
    else this.drawPoints(frame, diameter, count, round);
    if (this.marked.length) this.drawMarked(frame, diameter);
  }

  finished(done: () => void): void {
    const gl = this.gl;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    // A lost context makes none: its successor is asked anew.
    if (!fence) return;
    gl.flush();
    const look = (): void => {
      this.waiting = undefined;
      if (!gl.isContextLost() && gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) {
        this.waiting = setTimeout(look, 2);
        return;
      }
      gl.deleteSync(fence);
      done();
    };
    this.waiting = setTimeout(look, 2);
  }

  dispose(): void {
    const gl = this.gl;
    clearTimeout(this.waiting);
    for (const buffer of this.buffers.values()) gl.deleteBuffer(buffer);
    gl.deleteBuffer(this.markedBuffer);
    gl.deleteTexture(this.palette);
    this.programs.dispose();
    this.picture.dispose();
  }

  private drawByHand(frame: Frame, { smallest, range }: Diameter, count: number): void {
    const gl = this.gl;
    const size = { width: gl.drawingBufferWidth, height: gl.drawingBufferHeight };
    const travelling = this.from && frame.part < 1;
    const points = travelling ? between(this.from!, this.columns.points, frame.part, count) : this.columns.points;
    const shown = pixelPalette(this.colours, frame.background, 0), dimmed = pixelPalette(this.colours, frame.background, DIM);
    this.picture.resize(size.width, size.height);
    const { view, ratio } = frame;
    paintPixels(this.picture.pixels, { ...this.columns, points }, { view, size, ratio, count, smallest, range, upwards: true, shown, dimmed });
    this.picture.show(this.programs.picture());
  }

  private drawPoints(frame: Frame, diameter: Diameter, count: number, round: boolean): void {
    const gl = this.gl;
    this.use(round, frame, diameter);
    // Where points are small each pixel of a layer is painted once: what comes first stays. That costs least, and is fair,
    // since their order is random.
    if (this.columns.flags || this.columns.sizes || !round) gl.enable(gl.DEPTH_TEST);
    else gl.disable(gl.DEPTH_TEST);
    gl.depthFunc(round ? gl.LEQUAL : gl.LESS);
    if (round) gl.enable(gl.BLEND);
    else gl.disable(gl.BLEND);
    gl.drawArrays(gl.POINTS, 0, count);
  }

  private drawMarked(frame: Frame, { smallest, range }: Diameter): void {
    const gl = this.gl;
    const least = 5 * frame.ratio;
    this.use(true, frame, { smallest: Math.max(smallest, least), range });
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.markedBuffer);
    gl.drawElements(gl.POINTS, this.marked.length, gl.UNSIGNED_INT, 0);
  }

  private use(round: boolean, frame: Frame, { smallest, range }: Diameter): void {
    const gl = this.gl;
    this.upload();
    const { program, uniform } = this.programs.points({ round, moving: this.from !== null && frame.part < 1 });
    const { view, width, height, background, ink } = frame;
    gl.useProgram(program);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.uniform4f(uniform("camera"), view.x, view.y, (2 * view.scale) / width, (2 * view.scale) / height);
    gl.uniform2f(uniform("diameter"), smallest, range);
    gl.uniform4f(uniform("dimmed"), background[0] / 255, background[1] / 255, background[2] / 255, DIM);
    gl.uniform3f(uniform("outline"), ink[0] / 255, ink[1] / 255, ink[2] / 255);
    gl.uniform1f(uniform("part"), frame.part);
  }

  /** Sends to the card what it does not have yet. */
  private upload(): void {
    const { points, codes, sizes, flags } = this.columns;
    const { x, y } = points;
    const values = { x, y, code: codes, size: sizes, flag: flags, fromX: this.from?.x ?? null, fromY: this.from?.y ?? null };
    for (const name of this.changed) this.send(name, values[name]);
    this.changed.clear();
  }

  /** A column for the shaders; null gives every point the same. */
  private send(name: Column, values: Float32Array | Uint16Array | Uint8Array | null): void {
    const gl = this.gl;
    const at = COLUMNS.indexOf(name);
    if (!values) {
      gl.disableVertexAttribArray(at);
      if (name === "flag") gl.vertexAttribI4ui(at, SHOWN, 0, 0, 0);
      else gl.vertexAttrib1f(at, 0);
      return;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.get(name)!);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(at);
    if (name === "code") gl.vertexAttribIPointer(at, 1, gl.UNSIGNED_SHORT, 0, 0);
    else if (name === "flag") gl.vertexAttribIPointer(at, 1, gl.UNSIGNED_BYTE, 0, 0);
    else if (name === "size") gl.vertexAttribPointer(at, 1, gl.UNSIGNED_BYTE, true, 0, 0);
    else gl.vertexAttribPointer(at, 1, gl.FLOAT, false, 0, 0);
  }
}

export interface Diameter {
  smallest: number;
  range: number;
}

/** How large points are in device pixels, from the smallest to the largest. */
export function diameters({ extent, count }: { extent: Extent | null; count: number }, frame: Frame, sized: boolean): Diameter {
  const middle = pointDiameter(count, frame.view.scale / fitted(extent, frame).scale) * frame.ratio;
  return sized ? { smallest: middle * SMALLEST, range: middle * (LARGEST - SMALLEST) } : { smallest: middle, range: 0 };
}

/** A context that can draw the map, or null where the browser has none. */
export function openContext(canvas: HTMLCanvasElement): WebGL2RenderingContext | null {
  return canvas.getContext("webgl2", { antialias: false, depth: true, stencil: false, alpha: true, premultipliedAlpha: true });
}

/** The places of points as shaders take them: what has none lies nowhere, or where `otherwise` says. */
export function placed(points: Points, otherwise?: Points): Points {
  const { x, y } = points;
  let missing = false;
  for (let i = 0; i < x.length && !missing; i++) missing = x[i]! - x[i]! !== 0 || y[i]! - y[i]! !== 0;
  if (!missing) return points;
  const across = x.slice(), up = y.slice();
  for (let i = 0; i < across.length; i++) {
    if (across[i]! - across[i]! === 0 && up[i]! - up[i]! === 0) continue;
    across[i] = otherwise?.x[i] ?? NOWHERE;
    up[i] = otherwise?.y[i] ?? NOWHERE;
  }
  return { x: across, y: up };
}

/** Where in an array a value is. */
export function placesOf(flags: Uint8Array, wanted: number): Uint32Array {
  let count = 0;
  for (let i = 0; i < flags.length; i++) if (flags[i] === wanted) count++;
  const found = new Uint32Array(count);
  if (count) for (let i = 0, at = 0; i < flags.length; i++) if (flags[i] === wanted) found[at++] = i;
  return found;
}

/** A colour of the page, which a built style sheet writes as short as it can: `#fff` for `#ffffff`. */
export function rgbOf(colour: string): Rgb {
  const digits = colour.length < 7 ? [...colour.slice(1, 4)].map((one) => one + one).join("") : colour.slice(1, 7);
  const value = parseInt(digits, 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}
