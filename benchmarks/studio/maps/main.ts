// One page for both maps. Each gets the same points, colours, canvas and size of points, and the clock runs from the moment at
// which all of that is in memory until a pixel was read back from the canvas: until everything before it is drawn.

import { pointDiameter } from "@map/camera";
import { countInside, rowsInside, simplified } from "@map/lasso";
import { madePoints, type Made } from "./points";

export interface Drawer {
  /** Draws all points and returns once they are painted. */
  paint(made: Made, diameter: number): Promise<void>;
  /** Dims all points but the chosen ones, and returns once that is painted. */
  select(): Promise<void>;
  /** How many points are drawn while the map is moved, or -1 where it cannot be told. */
  drawnWhileMoving(): Promise<number>;
}

const drawers: Record<string, () => Promise<{ create(canvas: HTMLCanvasElement, made: Made): Drawer }>> = {
  ours: () => import("./ours"),
  card: () => import("./card"),
  theirs: () => import("./theirs"),
};

async function measure(which: string, count: number): Promise<Record<string, number>> {
  const { create } = await drawers[which]!();
  const made = madePoints(count);
  const canvas = document.querySelector("canvas")!;
  const drawer = create(canvas, made);
  await new Promise((done) => setTimeout(done, 50));
  const begin = performance.now();
  await drawer.paint(made, pointDiameter(count, 1));
  const painted = performance.now() - begin;
  await new Promise((done) => setTimeout(done, 50));
  const again = performance.now();
  await drawer.select();
  const filtered = performance.now() - again;
  return { painted, filtered, moving: await drawer.drawnWhileMoving() };
}

function lasso(count: number): { milliseconds: number; inside: number } {
  const { points } = madePoints(count);
  // A wavy line around the middle, as a hand draws it.
  const line = Array.from({ length: 240 }, (_, i): [number, number] => {
    const angle = (i / 240) * 2 * Math.PI, away = 0.5 + 0.12 * Math.sin(7 * angle);
    return [away * Math.cos(angle), away * Math.sin(angle)];
  });
  const corners = simplified(line, 0.002);
  const begin = performance.now();
  const mask = rowsInside(points, corners);
  const milliseconds = performance.now() - begin;
  return { milliseconds, inside: countInside(mask) };
}

Object.assign(window, { bench: { measure, lasso } });
