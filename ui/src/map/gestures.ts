// What hands do on the map: pan, pinch, draw a lasso or a box, point, and click, with a mouse, a pen or fingers. Knows the places
// of pointers alone; what comes of them is told to a host.

import { panned, roundedPlaces, toMap, zoomed, type Size } from "./camera";
import { areaOf, boxCorners, simplified } from "./lasso";
import type { Place, Tool, View } from "./types";

export interface GestureHost {
  tool(): Tool;
  view(): View;
  /** The view that shows everything. */
  whole(): View;
  size(): Size;
  move(view: View): void;
  /** The line that is being drawn, in CSS pixels; empty when it is over. */
  draw(line: readonly Place[]): void;
  lasso(corners: readonly Place[]): void;
  hover(left: number, top: number): void;
  leave(): void;
  click(left: number, top: number): void;
}

export interface Pointer {
  id: number;
  left: number;
  top: number;
}

// A hand is never quite still: so many pixels are still a click.
const STILL = 4;
const LINE_STEP = 3;
// In square pixels: smaller than this nobody meant to draw around something.
const SMALLEST_AREA = 60;
const EXACT = 1.5;

type Doing = "nothing" | "press" | "pan" | "lasso" | "box" | "pinch";

export class Gestures {
  private readonly pointers = new Map<number, Pointer>();
  private doing: Doing = "nothing";
  private wanted: "pan" | "lasso" | "box" = "pan";
  private begin: Pointer = { id: -1, left: 0, top: 0 };
  private line: Place[] = [];

  constructor(private readonly host: GestureHost) {}

  get busy(): boolean {
    return this.doing !== "nothing";
  }

  /** `other` asks for the other thing: a lasso while the map is panned, panning while it is drawn on. */
  down(pointer: Pointer, other: boolean): void {
    this.pointers.set(pointer.id, pointer);
    if (this.pointers.size === 2) {
      this.forgetLine();
      this.doing = "pinch";
    } else if (this.pointers.size === 1) {
      const tool = this.host.tool();
      this.wanted = other ? (tool === "pan" ? "lasso" : "pan") : tool;
      this.begin = pointer;
      this.doing = "press";
      this.host.leave();
    }
  }

  move(pointer: Pointer): void {
    const before = this.pointers.get(pointer.id);
    if (!before) {
      if (!this.busy) this.host.hover(pointer.left, pointer.top);
      return;
    }
    if (this.doing === "pinch") this.pinch(before, pointer);
    else this.drag(before, pointer);
    this.pointers.set(pointer.id, pointer);
  }

  up(pointer: Pointer): void {
    if (!this.pointers.has(pointer.id)) return;
    this.move(pointer);
    this.pointers.delete(pointer.id);
    if (this.doing === "press") this.host.click(pointer.left, pointer.top);
    else if (this.doing === "lasso" || this.doing === "box") this.close();
    // Of a pinch one finger may stay: it pans on.
    const [left] = this.pointers.values();
    if (left && this.doing === "pinch") {
      this.doing = "pan";
      this.begin = left;
    } else if (!left) this.doing = "nothing";
    this.forgetLine();
  }

  /** Taken back, or taken away by the browser: nothing comes of it. */
  cancel(): void {
    this.pointers.clear();
    this.doing = "nothing";
    this.forgetLine();
  }

  private drag(before: Pointer, pointer: Pointer): void {
    if (this.doing === "press" && Math.hypot(pointer.left - this.begin.left, pointer.top - this.begin.top) > STILL) {
      this.doing = this.wanted;
      before = this.begin;
    }
    if (this.doing === "pan") this.host.move(panned(this.host.view(), pointer.left - before.left, pointer.top - before.top));
    else if (this.doing === "box") this.show(boxCorners([this.begin.left, this.begin.top], [pointer.left, pointer.top]));
    else if (this.doing === "lasso") this.lengthen(pointer);
  }

  private lengthen(pointer: Pointer): void {
    const last = this.line.at(-1) ?? [this.begin.left, this.begin.top];
    const next: Place = [pointer.left, pointer.top];
    if (!this.line.length) this.show([last, next]);
    else if (Math.hypot(next[0] - last[0], next[1] - last[1]) >= LINE_STEP) this.show([...this.line, next]);
  }

  private pinch(before: Pointer, now: Pointer): void {
    const other = [...this.pointers.values()].find(({ id }) => id !== now.id)!;
    const spread = (one: Pointer): number => Math.max(1, Math.hypot(one.left - other.left, one.top - other.top));
    const at = { left: (before.left + other.left) / 2, top: (before.top + other.top) / 2 };
    const nearer = zoomed(this.host.view(), this.host.size(), spread(now) / spread(before), at, this.host.whole());
    this.host.move(panned(nearer, (now.left - before.left) / 2, (now.top - before.top) / 2));
  }

  private close(): void {
    const view = this.host.view(), size = this.host.size();
    const corners = this.doing === "box" ? this.line : simplified(this.line, EXACT);
    // What is too small to hold anything takes the lasso back.
    if (corners.length < 3 || areaOf(corners) < SMALLEST_AREA) return this.host.lasso([]);
    this.host.lasso(roundedPlaces(corners.map(([left, top]) => toMap(view, size, left, top)), view.scale));
  }

  private show(line: Place[]): void {
    this.line = line;
    this.host.draw(line);
  }

  private forgetLine(): void {
    if (this.line.length) this.show([]);
  }
}

export type KeyWish = { right: number; down: number } | { zoom: number } | "fit" | "cancel";

const KEY_STEP = 60;
const KEY_ZOOM = 1.4;
const ARROWS = new Map<string, readonly [right: number, down: number]>([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ["ArrowUp", [0, -1]],
  ["ArrowDown", [0, 1]],
]);
const WISHES = new Map<string, KeyWish>([
  ["+", { zoom: KEY_ZOOM }],
  ["=", { zoom: KEY_ZOOM }],
  ["-", { zoom: 1 / KEY_ZOOM }],
  ["0", "fit"],
  ["Escape", "cancel"],
]);

/** What a key asks of the map; null where it is none of the map's. */
export function keyWish(event: { key: string; shiftKey: boolean; ctrlKey: boolean; metaKey: boolean; altKey: boolean }): KeyWish | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const arrow = ARROWS.get(event.key);
  if (!arrow) return WISHES.get(event.key) ?? null;
  const step = event.shiftKey ? 4 * KEY_STEP : KEY_STEP;
  return { right: arrow[0] * step, down: arrow[1] * step };
}
