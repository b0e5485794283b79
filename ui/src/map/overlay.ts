// What lies over the points: the lasso, the rings around single points, and names. A plain canvas, drawn anew whenever the map is.

import { toScreen, type Size } from "./camera";
import { shortened, withoutOverlaps } from "./labels";
import type { MapLabel, Place, Points, View } from "./types";

export interface OverlayColours {
  accent: string;
  ink: string;
  halo: string;
  font: string;
}

/** The page's colours and letters, as an element of it has them. */
export function overlayColours(element: Element): OverlayColours {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return { accent: of("--accent"), ink: of("--ink"), halo: of("--panel"), font: `600 12px ${style.fontFamily}` };
}

export interface Over {
  view: View;
  size: Size;
  ratio: number;
  colours: OverlayColours;
  points: Points;
  rings: readonly number[];
  /** In the map's coordinates. */
  lasso: readonly Place[];
  /** What is being drawn now, in CSS pixels. */
  drawn: readonly Place[];
  /** None while the map moves. */
  labels: readonly MapLabel[];
}

const RING = 8;
const LABEL_HEIGHT = 15;

export function drawOver(context: CanvasRenderingContext2D, over: Over): void {
  const { view, size, ratio, colours } = over;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  const lasso = over.drawn.length ? over.drawn : over.lasso.map(([x, y]) => toScreen(view, size, x, y));
  drawLasso(context, lasso, colours);
  for (const point of over.rings) {
    const [left, top] = toScreen(view, size, over.points.x[point] ?? NaN, over.points.y[point] ?? NaN);
    if (left > -RING && left < size.width + RING && top > -RING && top < size.height + RING) drawRing(context, left, top, colours);
  }
  drawLabels(context, over);
}

function drawLasso(context: CanvasRenderingContext2D, corners: readonly Place[], colours: OverlayColours): void {
  if (corners.length < 2) return;
  context.beginPath();
  for (const [left, top] of corners) context.lineTo(left, top);
  context.closePath();
  context.globalAlpha = 0.1;
  context.fillStyle = colours.accent;
  context.fill("evenodd");
  context.globalAlpha = 1;
  context.lineJoin = "round";
  stroke(context, colours.halo, 4);
  stroke(context, colours.accent, 1.75);
}

function drawRing(context: CanvasRenderingContext2D, left: number, top: number, colours: OverlayColours): void {
  context.beginPath();
  context.arc(left, top, RING, 0, 2 * Math.PI);
  stroke(context, colours.halo, 4.5);
  stroke(context, colours.ink, 2);
}

function stroke(context: CanvasRenderingContext2D, colour: string, width: number): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

function drawLabels(context: CanvasRenderingContext2D, { view, size, colours, labels }: Over): void {
  if (!labels.length) return;
  context.font = colours.font;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const wanted = labels.map(({ x, y, text }) => {
    const [left, top] = toScreen(view, size, x, y);
    return { text: shortened(text), left, top };
  });
  context.strokeStyle = colours.halo;
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.fillStyle = colours.ink;
  for (const { text, left, top } of withoutOverlaps(wanted, size, LABEL_HEIGHT, (one) => context.measureText(one).width)) {
    context.strokeText(text, left, top);
    context.fillText(text, left, top);
  }
}
