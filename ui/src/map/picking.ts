// The point under the pointer: a grid over the map, made once, in which only the cells around the pointer are looked at.

import { extentOf } from "./camera";
import { HIDDEN, type Points } from "./types";

/** How near the pointer has to be, in CSS pixels. */
export const REACH = 8;
const MOST_CELLS = 1024;
const POINTS_A_CELL = 2;

export interface Index {
  left: number;
  bottom: number;
  perX: number;
  perY: number;
  columns: number;
  /** Where the points of each cell begin in `order`; one more than there are cells. */
  begins: Uint32Array;
  order: Uint32Array;
}

export function indexOf(points: Points): Index {
  const { x, y } = points;
  const extent = extentOf(points) ?? { left: 0, bottom: 0, right: 1, top: 1 };
  const columns = Math.max(1, Math.min(MOST_CELLS, Math.floor(Math.sqrt(x.length / POINTS_A_CELL))));
  const perX = columns / (extent.right - extent.left || 1), perY = columns / (extent.top - extent.bottom || 1);
  const cells = new Int32Array(x.length);
  const begins = new Uint32Array(columns * columns + 1);
  const last = columns - 1;
  for (let i = 0; i < x.length; i++) {
    const across = (x[i]! - extent.left) * perX, up = (y[i]! - extent.bottom) * perY;
    if (across - across !== 0 || up - up !== 0) {
      cells[i] = -1;
      continue;
    }
    const cell = Math.min(last, up | 0) * columns + Math.min(last, across | 0);
    cells[i] = cell;
    begins[cell + 1]!++;
  }
  for (let cell = 1; cell < begins.length; cell++) begins[cell]! += begins[cell - 1]!;
  const order = new Uint32Array(begins[columns * columns]!);
  const next = begins.slice();
  for (let i = 0; i < cells.length; i++) if (cells[i]! >= 0) order[next[cells[i]!]!++] = i;
  return { left: extent.left, bottom: extent.bottom, perX, perY, columns, begins, order };
}

/** The nearest point that is not hidden and at most `reach` (in the map's units) away; -1 for none. Without an index all are looked at. */
export function nearest(points: Points, flags: Uint8Array | null, index: Index | null, x: number, y: number, reach: number): number {
  const search = new Search(points, flags, x, y, reach);
  if (index === null) {
    for (let i = 0; i < points.x.length; i++) search.look(i);
    return search.found;
  }
  const { columns } = index;
  const column = Math.floor((x - index.left) * index.perX), row = Math.floor((y - index.bottom) * index.perY);
  const cell = Math.min(1 / index.perX, 1 / index.perY);
  const rings = Math.ceil(reach / cell) + 1;
  // A ring of cells that is wholly outside has nothing to find; so far away are the first ones of the grid.
  const first = Math.max(0, column - columns + 1, -column, row - columns + 1, -row);
  const end = Math.min(rings, Math.max(column, columns - column, row, columns - row) + 1);
  for (let ring = first; ring <= end; ring++) {
    // Whatever is in this ring or beyond is at least so far away.
    if ((ring - 1) * cell > search.best) break;
    for (let r = Math.max(0, row - ring); r <= Math.min(columns - 1, row + ring); r++) {
      const step = Math.abs(r - row) === ring ? 1 : Math.max(1, 2 * ring);
      for (let c = column - ring; c <= column + ring; c += step) {
        if (c < 0 || c >= columns) continue;
        const at = r * columns + c;
        for (let i = index.begins[at]!; i < index.begins[at + 1]!; i++) search.look(index.order[i]!);
      }
    }
  }
  return search.found;
}

class Search {
  found = -1;
  /** The distance of what was found, or the reach. */
  best: number;
  private square: number;

  constructor(
    private readonly points: Points,
    private readonly flags: Uint8Array | null,
    private readonly x: number,
    private readonly y: number,
    reach: number,
  ) {
    this.best = reach;
    this.square = reach * reach;
  }

  look(i: number): void {
    const across = this.points.x[i]! - this.x, up = this.points.y[i]! - this.y;
    const away = across * across + up * up;
    // NaN is never nearer. Of two at one place the lower one is found, with an index or without.
    if (!(away < this.square || (away === this.square && (this.found < 0 || i < this.found)))) return;
    if (this.flags !== null && this.flags[i] === HIDDEN) return;
    this.square = away;
    this.best = Math.sqrt(away);
    this.found = i;
  }
}
