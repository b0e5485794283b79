import { describe, expect, it } from "vitest";
import { toScreen } from "./camera";
import { Gestures, keyWish } from "./gestures";
import type { Place, Tool, View } from "./types";

const size = { width: 400, height: 400 };

class Host {
  current: View = { x: 0, y: 0, scale: 100 };
  lassos: (readonly Place[])[] = [];
  clicks: [number, number][] = [];
  hovers: ([number, number] | null)[] = [];
  line: readonly Place[] = [];
  constructor(public chosen: Tool) {}
  tool = (): Tool => this.chosen;
  view = (): View => this.current;
  whole = (): View => ({ x: 0, y: 0, scale: 100 });
  size = (): typeof size => size;
  move = (view: View): void => void (this.current = view);
  draw = (line: readonly Place[]): void => void (this.line = line);
  lasso = (corners: readonly Place[]): void => void this.lassos.push(corners);
  hover = (left: number, top: number): void => void this.hovers.push([left, top]);
  leave = (): void => void this.hovers.push(null);
  click = (left: number, top: number): void => void this.clicks.push([left, top]);
}

function drag(gestures: Gestures, line: readonly Place[], other = false): void {
  const at = ([left, top]: Place) => ({ id: 1, left, top });
  gestures.down(at(line[0]!), other);
  for (const place of line.slice(1)) gestures.move(at(place));
  gestures.up(at(line.at(-1)!));
}

const CIRCLE = Array.from({ length: 60 }, (_, i): Place => [200 + 80 * Math.cos(i / 9.5), 200 + 80 * Math.sin(i / 9.5)]);

describe("Gestures", () => {
  it("clicks with a hand that is not quite still", () => {
    const host = new Host("lasso");
    drag(new Gestures(host), [[10, 10], [12, 11]]);
    expect(host.clicks).toEqual([[12, 11]]);
    expect(host.lassos).toEqual([]);
  });
  it("pans so that what was held stays below the hand", () => {
    const host = new Host("pan");
    drag(new Gestures(host), [[100, 100], [103, 102], [150, 140]]);
    expect(toScreen(host.current, size, -1, 1)).toEqual([150, 140]);
    expect(host.clicks).toEqual([]);
  });
  it("gives a lasso of few corners in the map's coordinates", () => {
    const host = new Host("lasso");
    drag(new Gestures(host), CIRCLE);
    const [corners] = host.lassos;
    expect(corners!.length).toBeGreaterThan(5);
    expect(corners!.length).toBeLessThanOrEqual(24);
    expect(corners!.every(([x, y]) => Math.abs(Math.hypot(x, y) - 0.8) < 0.02)).toBe(true);
    expect(host.line).toEqual([]);
    expect(host.current).toEqual({ x: 0, y: 0, scale: 100 });
  });
  it("gives a box of four corners, whichever way it is drawn", () => {
    const host = new Host("box");
    drag(new Gestures(host), [[300, 300], [250, 250], [100, 200]]);
    expect(host.lassos).toEqual([[[1, -1], [-1, -1], [-1, 0], [1, 0]]]);
  });
  it("does the other thing where that is asked for", () => {
    const host = new Host("pan");
    drag(new Gestures(host), CIRCLE, true);
    expect(host.lassos).toHaveLength(1);
    const drawing = new Host("lasso");
    drag(new Gestures(drawing), CIRCLE, true);
    expect(drawing.lassos).toEqual([]);
    expect(drawing.current.x).not.toBe(0);
  });
  it("takes a lasso back that holds nothing", () => {
    const host = new Host("lasso");
    drag(new Gestures(host), [[10, 10], [20, 10], [30, 10], [12, 10]]);
    expect(host.lassos).toEqual([[]]);
  });
  it("forgets what was cancelled", () => {
    const host = new Host("lasso");
    const gestures = new Gestures(host);
    gestures.down({ id: 1, left: 10, top: 10 }, false);
    gestures.move({ id: 1, left: 100, top: 10 });
    expect(gestures.busy).toBe(true);
    expect(host.line.length).toBeGreaterThan(0);
    gestures.cancel();
    gestures.up({ id: 1, left: 100, top: 100 });
    expect(host.lassos).toEqual([]);
    expect(host.line).toEqual([]);
    expect(gestures.busy).toBe(false);
  });
  it("zooms with two fingers around their middle, and pans on with one", () => {
    const host = new Host("lasso");
    const gestures = new Gestures(host);
    gestures.down({ id: 1, left: 150, top: 200 }, false);
    gestures.down({ id: 2, left: 250, top: 200 }, false);
    gestures.move({ id: 1, left: 100, top: 200 });
    gestures.move({ id: 2, left: 300, top: 200 });
    expect(host.current.scale).toBeCloseTo(200);
    const [left, top] = toScreen(host.current, size, 0, 0);
    expect(left).toBeCloseTo(200);
    expect(top).toBeCloseTo(200);
    gestures.up({ id: 2, left: 300, top: 200 });
    const before = host.current.x;
    gestures.move({ id: 1, left: 120, top: 200 });
    expect(host.current.x).toBeCloseTo(before - 20 / 200);
    gestures.up({ id: 1, left: 120, top: 200 });
    expect(host.lassos).toEqual([]);
    expect(gestures.busy).toBe(false);
  });
  it("points only while nothing is held", () => {
    const host = new Host("pan");
    const gestures = new Gestures(host);
    gestures.move({ id: 1, left: 5, top: 6 });
    gestures.down({ id: 1, left: 5, top: 6 }, false);
    gestures.move({ id: 1, left: 6, top: 6 });
    expect(host.hovers).toEqual([[5, 6], null]);
  });
});

describe("keyWish", () => {
  const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
  it("pans with arrows, farther with shift", () => {
    expect(keyWish({ ...plain, key: "ArrowUp" })).toEqual({ right: 0, down: -60 });
    expect(keyWish({ ...plain, key: "ArrowRight", shiftKey: true })).toEqual({ right: 240, down: 0 });
  });
  it("zooms in and out by as much, and fits", () => {
    const near = keyWish({ ...plain, key: "+" }) as { zoom: number }, far = keyWish({ ...plain, key: "-" }) as { zoom: number };
    expect(near.zoom * far.zoom).toBeCloseTo(1);
    expect(keyWish({ ...plain, key: "0" })).toBe("fit");
  });
  it("leaves the browser's own keys and all others alone", () => {
    expect(keyWish({ ...plain, key: "+", ctrlKey: true })).toBeNull();
    expect(keyWish({ ...plain, key: "l" })).toBeNull();
    expect(keyWish({ ...plain, key: "toString" })).toBeNull();
  });
});
