// Draws points with WebGL2: own buffers, one for each column, so that only what changed is sent to the graphics card. Draws
// when it is told to and knows nothing of pointers, time or pages.

import { fitted, extentOf, pointDiameter, type Extent } from "./camera";
import { fragmentShader, PALETTE_WIDTH, vertexShader, type Variant } from "./shaders";
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
  /** Says once, later, how long the graphics card took for what was drawn last. */
  measure(done: (milliseconds: number) => void): void;
  dispose(): void;
}

// Smaller than this, in device pixels, a disc and a square are the same to the eye.
const SHAPELESS = 4;
// The diameter of the smallest and of the largest point, as a part of the middle one.
const SMALLEST = 0.7;
const LARGEST = 2.6;
// How much of a dimmed point's colour is the background's.
const DIM = 0.8;
// Outside of every view, yet finite: what NaN does in a shader differs between cards.
const NOWHERE = 1e20;
const COLUMNS = ["x", "y", "code", "size", "flag", "fromX", "fromY"] as const;
type Column = (typeof COLUMNS)[number];

interface Program {
  program: WebGLProgram;
  camera: WebGLUniformLocation | null;
  diameter: WebGLUniformLocation | null;
  dimmed: WebGLUniformLocation | null;
  outline: WebGLUniformLocation | null;
  part: WebGLUniformLocation | null;
}

export class PointRenderer implements Renderer {
  extent: Extent | null = null;
  count = 0;
  private readonly buffers = new Map<Column, WebGLBuffer>();
  private readonly programs = new Map<string, Program>();
  private readonly palette: WebGLTexture;
  private readonly markedBuffer: WebGLBuffer;
  private marked = 0;
  private mixed = false;
  private sized = false;
  private travelling = false;
  private measuring: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly gl: WebGL2RenderingContext) {
    for (const name of COLUMNS) this.buffers.set(name, gl.createBuffer());
    this.palette = gl.createTexture();
    this.markedBuffer = gl.createBuffer();
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    this.setSizes(null);
    this.setFlags(null);
  }

  setPoints(points: Points, from: Points | null): void {
    this.count = points.x.length;
    this.extent = extentOf(points);
    const [x, y] = placed(points);
    this.upload("x", x);
    this.upload("y", y);
    this.travelling = from !== null && from.x.length === this.count;
    if (from && this.travelling) {
      const [fromX, fromY] = placed(from, x, y);
      this.upload("fromX", fromX);
      this.upload("fromY", fromY);
    } else {
      this.release("fromX");
      this.release("fromY");
    }
  }

  setColours({ codes, palette }: Colours): void {
    const gl = this.gl;
    this.upload("code", codes);
    const rows = Math.max(1, Math.ceil(palette.length / PALETTE_WIDTH));
    const pixels = new Uint8Array(rows * PALETTE_WIDTH * 4);
    palette.forEach((colour, i) => pixels.set([...rgbOf(colour), 255], i * 4));
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, PALETTE_WIDTH, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }

  setSizes(sizes: Uint8Array | null): void {
    this.sized = sizes !== null;
    this.upload("size", sizes);
  }

  setFlags(flags: Uint8Array | null): void {
    const gl = this.gl;
    this.upload("flag", flags);
    this.mixed = flags !== null;
    const marked = flags ? placesOf(flags, MARKED) : new Uint32Array(0);
    this.marked = marked.length;
    if (!marked.length) return;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.markedBuffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, marked, gl.DYNAMIC_DRAW);
  }

  draw(frame: Frame): void {
    const gl = this.gl;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const count = Math.min(frame.count, this.count);
    if (!count) return;
    const whole = fitted(this.extent, frame);
    const middle = pointDiameter(this.count, frame.view.scale / whole.scale) * frame.ratio;
    const largest = middle * (this.sized ? LARGEST : 1);
    const moving = this.travelling && frame.part < 1;
    const round = largest >= SHAPELESS;
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    this.use({ round, moving }, frame, middle);
    // Each pixel of a layer is painted once: what comes first stays, which costs least and is as fair as the order.
    if (this.mixed || !round) gl.enable(gl.DEPTH_TEST);
    else gl.disable(gl.DEPTH_TEST);
    gl.depthFunc(round ? gl.LEQUAL : gl.LESS);
    if (round) gl.enable(gl.BLEND);
    else gl.disable(gl.BLEND);
    gl.drawArrays(gl.POINTS, 0, count);
    if (this.marked) this.drawMarked(frame, middle, moving);
  }

  private drawMarked(frame: Frame, middle: number, moving: boolean): void {
    const gl = this.gl;
    this.use({ round: true, moving }, frame, Math.max(middle, 5 * frame.ratio));
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.markedBuffer);
    gl.drawElements(gl.POINTS, this.marked, gl.UNSIGNED_INT, 0);
  }

  measure(done: (milliseconds: number) => void): void {
    const gl = this.gl;
    if (this.measuring !== undefined) return;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence) return;
    gl.flush();
    const begin = performance.now();
    const look = (): void => {
      this.measuring = undefined;
      const over = gl.isContextLost() || gl.getSyncParameter(fence, gl.SYNC_STATUS) === gl.SIGNALED;
      if (over) {
        gl.deleteSync(fence);
        done(performance.now() - begin);
      } else {
        this.measuring = setTimeout(look, 2);
      }
    };
    this.measuring = setTimeout(look, 2);
  }

  dispose(): void {
    const gl = this.gl;
    clearTimeout(this.measuring);
    for (const buffer of this.buffers.values()) gl.deleteBuffer(buffer);
    for (const { program } of this.programs.values()) gl.deleteProgram(program);
    gl.deleteBuffer(this.markedBuffer);
    gl.deleteTexture(this.palette);
  }

  private use(variant: Variant, frame: Frame, middle: number): void {
    const gl = this.gl;
    const found = this.program(variant);
    const { view, width, height } = frame;
    gl.useProgram(found.program);
    gl.uniform4f(found.camera, view.x, view.y, (2 * view.scale) / width, (2 * view.scale) / height);
    const smallest = this.sized ? middle * SMALLEST : middle;
    gl.uniform2f(found.diameter, smallest, this.sized ? middle * (LARGEST - SMALLEST) : 0);
    const [red, green, blue] = frame.background;
    gl.uniform4f(found.dimmed, red / 255, green / 255, blue / 255, DIM);
    if (found.outline) gl.uniform3f(found.outline, frame.ink[0] / 255, frame.ink[1] / 255, frame.ink[2] / 255);
    if (found.part) gl.uniform1f(found.part, frame.part);
  }

  private program(variant: Variant): Program {
    const key = `${variant.round} ${variant.moving}`;
    const known = this.programs.get(key);
    if (known) return known;
    const gl = this.gl;
    const program = linked(gl, vertexShader(variant), fragmentShader(variant));
    const at = (name: string): WebGLUniformLocation | null => gl.getUniformLocation(program, name);
    const made = { program, camera: at("camera"), diameter: at("diameter"), dimmed: at("dimmed"), outline: at("outline"), part: at("part") };
    this.programs.set(key, made);
    return made;
  }

  /** A column for the shaders; null gives every point the same. */
  private upload(name: Column, values: Float32Array | Uint16Array | Uint8Array | null): void {
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

  private release(name: Column): void {
    this.gl.disableVertexAttribArray(COLUMNS.indexOf(name));
  }
}

/** A context that can draw the map, or null where the browser has none. */
export function openContext(canvas: HTMLCanvasElement): WebGL2RenderingContext | null {
  return canvas.getContext("webgl2", { antialias: false, depth: true, stencil: false, alpha: true, premultipliedAlpha: true });
}

/** The places of points as shaders take them: what has none lies nowhere, or (`otherwise`) where it will be. */
export function placed({ x, y }: Points, otherX?: Float32Array, otherY?: Float32Array): [Float32Array, Float32Array] {
  let missing = false;
  for (let i = 0; i < x.length && !missing; i++) missing = x[i]! - x[i]! !== 0 || y[i]! - y[i]! !== 0;
  if (!missing) return [x, y];
  const across = x.slice(), up = y.slice();
  for (let i = 0; i < across.length; i++) {
    if (across[i]! - across[i]! === 0 && up[i]! - up[i]! === 0) continue;
    across[i] = otherX?.[i] ?? NOWHERE;
    up[i] = otherY?.[i] ?? NOWHERE;
  }
  return [across, up];
}

/** Where in an array a value is. */
export function placesOf(flags: Uint8Array, wanted: number): Uint32Array {
  let count = 0;
  for (let i = 0; i < flags.length; i++) if (flags[i] === wanted) count++;
  const found = new Uint32Array(count);
  if (count) for (let i = 0, at = 0; i < flags.length; i++) if (flags[i] === wanted) found[at++] = i;
  return found;
}

export function rgbOf(colour: string): Rgb {
  const value = parseInt(colour.slice(1, 7), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function linked(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`The map's shaders were refused: ${gl.getProgramInfoLog(program)}`);
  }
  return program;
}
