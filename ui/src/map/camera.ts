// Between the map's coordinates and the pixels of its canvas: fitting, panning, zooming, and how large points are. CSS pixels
// throughout; x grows to the right, and y of the map grows upwards. Knows no canvas and no WebGL.

import type { Place, Points, View } from "./types";

export interface Extent {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

export interface Size {
  width: number;
  height: number;
}

const MARGIN = 0.06;
// How far one can zoom from the whole: in until single points are apart, out until all are a spot.
const NEAREST = 20_000;
const FARTHEST = 0.2;

/** Where points lie; null where none has a place. */
export function extentOf({ x, y }: Points): Extent | null {
  let left = Infinity, bottom = Infinity, right = -Infinity, top = -Infinity;
  for (let i = 0; i < x.length; i++) {
    const across = x[i]!, up = y[i]!;
    // Zero for finite numbers alone; a point with half a place has none.
    if (across - across === 0 && up - up === 0) {
      if (across < left) left = across;
      if (across > right) right = across;
      if (up < bottom) bottom = up;
      if (up > top) top = up;
    }
  }
  return left <= right && bottom <= top ? { left, bottom, right, top } : null;
}

/** The view that shows everything, with a margin. */
export function fitted(extent: Extent | null, size: Size): View {
  if (!extent) return { x: 0, y: 0, scale: 1 };
  const across = (size.width * (1 - 2 * MARGIN)) / (extent.right - extent.left);
  const up = (size.height * (1 - 2 * MARGIN)) / (extent.top - extent.bottom);
  const scale = Math.min(across, up);
  const x = (extent.left + extent.right) / 2, y = (extent.bottom + extent.top) / 2;
  return { x, y, scale: Number.isFinite(scale) && scale > 0 ? scale : 1 };
}

export function toScreen(view: View, size: Size, x: number, y: number): [left: number, top: number] {
  return [(x - view.x) * view.scale + size.width / 2, (view.y - y) * view.scale + size.height / 2];
}

export function toMap(view: View, size: Size, left: number, top: number): [x: number, y: number] {
  return [view.x + (left - size.width / 2) / view.scale, view.y - (top - size.height / 2) / view.scale];
}

/** The map moved by so many pixels, as if it were held. */
export function panned(view: View, left: number, top: number): View {
  return { ...view, x: view.x - left / view.scale, y: view.y + top / view.scale };
}

/** Nearer (more than 1) or farther, with the place below the pointer staying where it is. `whole` is the fitted view. */
export function zoomed(view: View, size: Size, factor: number, at: { left: number; top: number }, whole: View): View {
  const scale = Math.min(Math.max(view.scale * factor, whole.scale * FARTHEST), whole.scale * NEAREST);
  const [x, y] = toMap(view, size, at.left, at.top);
  const left = at.left - size.width / 2, top = at.top - size.height / 2;
  return { x: x - left / scale, y: y + top / scale, scale };
}

/** How much a turn of the wheel zooms: pixels, lines or pages alike, and a pinch on a trackpad (which comes with Ctrl) more. */
export function wheelFactor(event: { deltaY: number; deltaMode: number; ctrlKey: boolean }): number {
  const pixels = event.deltaY * (event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 400 : 1);
  return Math.exp(-Math.min(Math.max(pixels, -240), 240) * (event.ctrlKey ? 0.01 : 0.0022));
}

/** The diameter of a point of middle size: many points are small, and grow a little where one looks closer. */
export function pointDiameter(count: number, zoom: number): number {
  const whole = Math.min(7, Math.max(1.4, 7 * (2000 / Math.max(count, 1)) ** 0.28));
  return Math.min(14, whole * Math.min(4, Math.max(1, zoom) ** 0.35));
}

/** A view that takes few characters in an address: a place to a quarter of a pixel, a scale to four digits. */
export function rounded(view: View): View {
  return { x: roundedTo(view.x, 0.25 / view.scale), y: roundedTo(view.y, 0.25 / view.scale), scale: Number(view.scale.toPrecision(4)) };
}

/** Corners as exact as the pixels they were drawn with, and not more. */
export function roundedPlaces(places: readonly Place[], scale: number): Place[] {
  return places.map(([x, y]) => [roundedTo(x, 0.25 / scale), roundedTo(y, 0.25 / scale)]);
}

function roundedTo(value: number, step: number): number {
  const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step))));
  return Number(value.toFixed(digits));
}
