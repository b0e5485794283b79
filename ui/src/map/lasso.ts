// What lies inside a lasso, by the server's rule (`rows_in_region`) to the last bit: even-odd for three corners or more, a box
// with its edges for two. And a drawn line made into few corners. Knows no canvas.

import type { Place, Points } from "./types";

/** As many corners as an address holds. */
export const MOST_CORNERS = 24;
const CELLS = 512;
// Beyond the corners on each side: what rounding could move lies within.
const RIM = 2;
const OUTSIDE = 0;
const INSIDE = 1;
const EDGE = 2;

/** 1 for each point inside, else 0. */
export function rowsInside({ x, y }: Points, corners: readonly Place[]): Uint8Array {
  const mask = new Uint8Array(x.length);
  if (corners.length < 2 || !corners.every(([a, b]) => Number.isFinite(a) && Number.isFinite(b))) return mask;
  if (corners.length === 2) return insideBox({ x, y }, corners[0]!, corners[1]!, mask);
  const edges = edgesOf(corners);
  const grid = gridOf(corners, edges);
  if (grid === null) return mask;
  const { left, bottom, perX, perY, cells } = grid;
  for (let i = 0; i < mask.length; i++) {
    const across = x[i]!, up = y[i]!;
    const column = (across - left) * perX, row = (up - bottom) * perY;
    // Written so that NaN is outside.
    if (!(column >= 0 && column < CELLS && row >= 0 && row < CELLS)) continue;
    const cell = cells[(row | 0) * CELLS + (column | 0)]!;
    mask[i] = cell === EDGE ? crossings(edges, across, up) : cell;
  }
  return mask;
}

/** How many are inside. */
export function countInside(mask: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < mask.length; i++) count += mask[i]!;
  return count;
}

function insideBox({ x, y }: Points, [x1, y1]: Place, [x2, y2]: Place, mask: Uint8Array): Uint8Array {
  const left = Math.min(x1, x2), right = Math.max(x1, x2), bottom = Math.min(y1, y2), top = Math.max(y1, y2);
  for (let i = 0; i < mask.length; i++) mask[i] = left <= x[i]! && x[i]! <= right && bottom <= y[i]! && y[i]! <= top ? 1 : 0;
  return mask;
}

/** Five numbers for each edge that a level ray can cross: both ends' y, an end, and how x goes with y. */
function edgesOf(corners: readonly Place[]): Float64Array {
  const found: number[] = [];
  corners.forEach(([x1, y1], i) => {
    const [x2, y2] = corners[(i + 1) % corners.length]!;
    if (y1 !== y2) found.push(y1, y2, x1, (x2 - x1) / (y2 - y1));
  });
  return Float64Array.from(found);
}

/** Whether a ray to the right crosses an odd number of edges, as the server reckons it. */
function crossings(edges: Float64Array, x: number, y: number): number {
  let inside = 0;
  for (let e = 0; e < edges.length; e += 4) {
    const y1 = edges[e]!;
    if (y1 > y !== edges[e + 1]! > y && x < edges[e + 2]! + (y - y1) * edges[e + 3]!) inside ^= 1;
  }
  return inside;
}

interface Grid {
  left: number;
  bottom: number;
  perX: number;
  perY: number;
  cells: Uint8Array;
}

/** Cells over the polygon: which are inside, which outside, and which have an edge in or beside them. Null: it holds nothing. */
function gridOf(corners: readonly Place[], edges: Float64Array): Grid | null {
  const [left, right] = spanOf(corners, 0), [bottom, top] = spanOf(corners, 1);
  // All on one upright or level line: an even number of edges is crossed everywhere.
  if (left === right || bottom === top) return null;
  const inner = CELLS - 2 * RIM;
  const wide = (right - left) / inner, high = (top - bottom) / inner;
  const grid = { left: left - RIM * wide, bottom: bottom - RIM * high, perX: 1 / wide, perY: 1 / high, cells: new Uint8Array(CELLS * CELLS) };
  // A sliver finer than numbers are: nothing can be said by cells, so every point is looked at.
  const fine = Math.min(wide / Math.max(Math.abs(left), Math.abs(right)), high / Math.max(Math.abs(bottom), Math.abs(top)));
  if (!(fine > 1e-12) || !Number.isFinite(grid.perX) || !Number.isFinite(grid.perY)) grid.cells.fill(EDGE);
  else {
    corners.forEach((corner, i) => markEdge(grid, corner, corners[(i + 1) % corners.length]!));
    for (let row = 0; row < CELLS; row++) fillRow(grid, edges, row);
  }
  return grid;
}

function spanOf(corners: readonly Place[], axis: 0 | 1): [number, number] {
  const values = corners.map((corner) => corner[axis]);
  return [Math.min(...values), Math.max(...values)];
}

/** Marks every cell that an edge goes through, and those around it. */
function markEdge(grid: Grid, [x1, y1]: Place, [x2, y2]: Place): void {
  const column1 = (x1 - grid.left) * grid.perX, column2 = (x2 - grid.left) * grid.perX;
  const row1 = (y1 - grid.bottom) * grid.perY, row2 = (y2 - grid.bottom) * grid.perY;
  const low = Math.min(row1, row2), high = Math.max(row1, row2);
  const first = Math.floor(low) - 1, last = Math.floor(high) + 1;
  const slope = high > low ? (column2 - column1) / (row2 - row1) : 0;
  for (let row = Math.max(0, first); row <= Math.min(CELLS - 1, last); row++) {
    // Where the edge is between a row below and a row above.
    const from = Math.min(Math.max(row - 1, low), high), to = Math.min(Math.max(row + 2, low), high);
    const one = high > low ? column1 + (from - row1) * slope : column1, other = high > low ? column1 + (to - row1) * slope : column2;
    const begin = Math.max(0, Math.floor(Math.min(one, other)) - 1), end = Math.min(CELLS - 1, Math.floor(Math.max(one, other)) + 1);
    grid.cells.fill(EDGE, row * CELLS + begin, row * CELLS + end + 1);
  }
}

/** Cells between edges are alike: one of them is asked for all. */
function fillRow(grid: Grid, edges: Float64Array, row: number): void {
  const up = grid.bottom + (row + 0.5) / grid.perY;
  let column = 0;
  while (column < CELLS) {
    const begin = column;
    if (grid.cells[row * CELLS + begin] === EDGE) {
      column++;
      continue;
    }
    while (column < CELLS && grid.cells[row * CELLS + column] !== EDGE) column++;
    const inside = crossings(edges, grid.left + (begin + 0.5) / grid.perX, up) ? INSIDE : OUTSIDE;
    grid.cells.fill(inside, row * CELLS + begin, row * CELLS + column);
  }
}

/** The four corners of a box. */
export function boxCorners([x1, y1]: Place, [x2, y2]: Place): Place[] {
  return [[x1, y1], [x2, y1], [x2, y2], [x1, y2]];
}

/** The area inside a line that is closed, without sign. */
export function areaOf(line: readonly Place[]): number {
  let twice = 0;
  line.forEach(([x1, y1], i) => {
    const [x2, y2] = line[(i + 1) % line.length]!;
    twice += x1 * y2 - x2 * y1;
  });
  return Math.abs(twice) / 2;
}

interface Stretch {
  begin: number;
  end: number;
  farthest: number;
  away: number;
}

/**
 * A closed line in few corners: of all stretches the one that is farthest off is broken first (Douglas and Peucker), until none is
 * more than `tolerance` off or there are `most` corners.
 */
export function simplified(line: readonly Place[], tolerance: number, most = MOST_CORNERS): Place[] {
  const round = line.filter((place, i) => i === 0 || place[0] !== line[i - 1]![0] || place[1] !== line[i - 1]![1]);
  if (round.length > 1 && round[0]![0] === round.at(-1)![0] && round[0]![1] === round.at(-1)![1]) round.pop();
  if (round.length <= 3) return round;
  const opposite = farthestFrom(round, 0);
  const closed = [...round, round[0]!];
  const stretches = [stretchOf(closed, 0, opposite), stretchOf(closed, opposite, round.length)];
  while (stretches.length < most) {
    const worst = stretches.reduce((a, b) => (b.away > a.away ? b : a));
    if (worst.away <= tolerance && stretches.length >= 3) break;
    if (worst.farthest < 0) break;
    stretches.splice(stretches.indexOf(worst), 1, stretchOf(closed, worst.begin, worst.farthest), stretchOf(closed, worst.farthest, worst.end));
  }
  return stretches.map(({ begin }) => closed[begin]!);
}

function farthestFrom(line: readonly Place[], at: number): number {
  const [x, y] = line[at]!;
  let found = 0, most = -1;
  line.forEach(([a, b], i) => {
    const away = (a - x) ** 2 + (b - y) ** 2;
    if (away > most) [found, most] = [i, away];
  });
  return found;
}

function stretchOf(line: readonly Place[], begin: number, end: number): Stretch {
  const [x1, y1] = line[begin]!, [x2, y2] = line[end]!;
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
  let farthest = -1, away = -1;
  for (let i = begin + 1; i < end; i++) {
    const [x, y] = line[i]!;
    const along = length ? Math.min(1, Math.max(0, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length)) : 0;
    const off = Math.hypot(x - x1 - along * (x2 - x1), y - y1 - along * (y2 - y1));
    if (off > away) [farthest, away] = [i, off];
  }
  return { begin, end, farthest, away };
}
