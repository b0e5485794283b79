// The map's canvas and all that is drawn on it: which renderer draws, when, with which view, and what becomes of a lost context.
// Says on the canvas what was drawn (`data-drawn`, `data-points`, `data-frames`).

import { Frames } from "./animate";
import { fitted, type Size } from "./camera";
import { PlainRenderer } from "./fallback";
import { openContext, PointRenderer, rgbOf, type Renderer, type Rgb } from "./renderer";
import { cameFrom } from "./travel";
import type { Colours, Points, View } from "./types";

/** How the map is drawn; `lost` while the browser has taken the graphics card away. */
export type Drawn = "webgl" | "plain" | "lost";

export interface StageHost {
  /** After each picture, for what lies over it. */
  drawn(resting: boolean): void;
  state(drawn: Drawn): void;
}

const NO_POINTS: Points = { x: new Float32Array(0), y: new Float32Array(0) };

export class Stage {
  readonly frames: Frames;
  size: Size = { width: 1, height: 1 };
  ratio = 1;
  background: Rgb = [255, 255, 255];
  ink: Rgb = [0, 0, 0];
  private renderer: Renderer;
  private wanted: View | null = null;
  private points = NO_POINTS;
  private colours: Colours = { codes: new Uint16Array(0), palette: [] };
  private sizes: Uint8Array | null = null;
  private flags: Uint8Array | null = null;
  private pictures = 0;
  private lost = false;
  private readonly listening = new AbortController();

  constructor(private readonly canvas: HTMLCanvasElement, private readonly host: StageHost) {
    this.renderer = this.made();
    this.frames = new Frames({
      total: () => this.renderer.count,
      draw: (count, part, resting) => this.draw(count, part, resting),
      finished: (done) => this.renderer.finished(done),
    });
    const { signal } = this.listening;
    canvas.addEventListener("webglcontextlost", (event) => this.lose(event), { signal });
    canvas.addEventListener("webglcontextrestored", () => this.restore(), { signal });
  }

  get view(): View {
    return this.wanted ?? this.whole;
  }

  get whole(): View {
    return fitted(this.renderer.extent, this.size);
  }

  /** Look somewhere else; null looks at everything. `moving` where a hand does it. */
  look(view: View | null, moving: boolean): void {
    this.wanted = view;
    if (moving) this.frames.moved();
    else this.frames.changed();
  }

  resize(size: Size, ratio: number): void {
    const width = Math.max(1, Math.round(size.width * ratio)), height = Math.max(1, Math.round(size.height * ratio));
    this.size = { width: Math.max(1, size.width), height: Math.max(1, size.height) };
    this.ratio = ratio;
    if (this.canvas.width === width && this.canvas.height === height) return;
    this.canvas.width = width;
    this.canvas.height = height;
    this.frames.changed();
  }

  setPoints(points: Points, travel: boolean): void {
    const from = travel ? cameFrom(this.points, points) : null;
    this.points = points;
    this.renderer.setPoints(points, from);
    this.frames.forget();
    if (from) this.frames.travel();
    else this.frames.changed();
  }

  setColours(colours: Colours): void {
    this.colours = colours;
    this.renderer.setColours(colours);
    this.frames.changed();
  }

  setSizes(sizes: Uint8Array | null): void {
    this.sizes = sizes;
    this.renderer.setSizes(sizes);
    this.frames.changed();
  }

  setFlags(flags: Uint8Array | null): void {
    this.flags = flags;
    this.renderer.setFlags(flags);
    this.frames.changed();
  }

  setInk(background: string, ink: string): void {
    this.background = rgbOf(background);
    this.ink = rgbOf(ink);
    this.frames.changed();
  }

  dispose(): void {
    this.listening.abort();
    this.frames.stop();
    this.renderer.dispose();
  }

  private made(): Renderer {
    const context = openContext(this.canvas);
    if (context) return new PointRenderer(context);
    const plain = this.canvas.getContext("2d");
    if (!plain) throw new Error("This browser cannot draw on a canvas.");
    this.host.state("plain");
    return new PlainRenderer(plain);
  }

  private draw(count: number, part: number, resting: boolean): void {
    if (this.lost) return;
    const { size, ratio, view, background, ink } = this;
    this.renderer.draw({ view, ...size, ratio, count, part, background, ink });
    this.pictures++;
    Object.assign(this.canvas.dataset, { drawn: String(count), points: String(this.renderer.count), frames: String(this.pictures) });
    this.host.drawn(resting);
  }

  private lose(event: Event): void {
    // Without this the browser never gives it back.
    event.preventDefault();
    this.lost = true;
    // What it held is gone with it.
    this.frames.stop();
    this.host.state("lost");
  }

  private restore(): void {
    this.lost = false;
    this.renderer = this.made();
    this.renderer.setPoints(this.points, null);
    this.renderer.setColours(this.colours);
    this.renderer.setSizes(this.sizes);
    this.renderer.setFlags(this.flags);
    this.frames.forget();
    this.frames.changed();
    this.host.state("webgl");
  }
}
