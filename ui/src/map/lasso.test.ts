import { describe, expect, it } from "vitest";
import { areaOf, boxCorners, countInside, MOST_CORNERS, rowsInside, simplified } from "./lasso";
import type { Place, Points } from "./types";

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

function pointsOf(count: number, random: () => number, scale: number, offset: number): Points {
  const x = Float32Array.from({ length: count }, () => offset + scale * (random() - 0.5));
  const y = Float32Array.from({ length: count }, () => offset + scale * (random() - 0.5));
  return { x, y };
}

/** The server's rule, word for word. */
function plainly({ x, y }: Points, corners: readonly Place[]): number[] {
  return Array.from(x, (across, i) => {
    let inside = false;
    corners.forEach(([x1, y1], at) => {
      const [x2, y2] = corners[(at + 1) % corners.length]!;
      if (y1 !== y2 && y1 > y[i]! !== y2 > y[i]! && across < x1 + (y[i]! - y1) * ((x2 - x1) / (y2 - y1))) inside = !inside;
    });
    return inside ? 1 : 0;
  });
}

describe("rowsInside", () => {
  it("agrees with the plain rule for any polygon, also one that crosses itself", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomOf(seed);
      const scale = 10 ** (4 * random() - 2), offset = seed % 3 ? 0 : 50 * scale;
      const points = pointsOf(1000, random, scale, offset);
      const corners = Array.from({ length: 3 + Math.floor(random() * 22) }, (): Place => [offset + scale * (random() - 0.5) * 1.2, offset + scale * (random() - 0.5) * 1.2]);
      expect([...rowsInside(points, corners)], `seed ${seed}`).toEqual(plainly(points, corners));
    }
  });
  it("agrees at corners, on edges and for points on a grid", () => {
    const places = Array.from({ length: 21 * 21 }, (_, i) => [(i % 21) / 10 - 1, Math.floor(i / 21) / 10 - 1] as const);
    const points = { x: Float32Array.from(places, ([x]) => x), y: Float32Array.from(places, ([, y]) => y) };
    const box = boxCorners([-0.5, -0.5], [0.5, 0.5]);
    const star: Place[] = [[0, 1], [0.5, -0.75], [-0.75, 0.25], [0.75, 0.25], [-0.5, -0.75]];
    const comb: Place[] = [[-1, -1], [-0.9, 1], [-0.8, -1], [-0.7, 1], [-0.6, -1], [1, -1]];
    for (const corners of [box, star, comb]) expect([...rowsInside(points, corners)]).toEqual(plainly(points, corners));
  });
  it("agrees for slivers, doubled corners and a polygon without area", () => {
    const points = pointsOf(3000, randomOf(5), 2, 0);
    const slivers: Place[][] = [
      [[-1, 0], [1, 1e-7], [-1, 1e-7]],
      [[0, -1], [0, 1], [0, 0.5]],
      [[-1, 0.25], [1, 0.25], [0, 0.25]],
      [[-1, -1], [1, 1], [-1, -1], [1, 1]],
      [[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]],
      [[0.1, 0.1], [0.1 + 1e-17, 0.1], [0.1, 0.1 + 1e-17]],
    ];
    for (const corners of slivers) expect([...rowsInside(points, corners)]).toEqual(plainly(points, corners));
  });
  it("agrees for lassos much larger and much smaller than the map", () => {
    const points = pointsOf(3000, randomOf(9), 2, 0);
    const huge: Place[] = [[-1e9, -1e9], [1e9, -1e9], [0, 1e9]];
    const tiny: Place[] = [[0, 0], [0.01, 0], [0, 0.01]];
    expect(countInside(rowsInside(points, huge))).toBe(3000);
    expect([...rowsInside(points, tiny)]).toEqual(plainly(points, tiny));
  });
  it("holds no sample without a place", () => {
    const points = { x: Float32Array.of(0, NaN, 0, Infinity), y: Float32Array.of(0, 0, NaN, 0) };
    expect([...rowsInside(points, boxCorners([-1, -1], [1, 1]))]).toEqual([1, 0, 0, 0]);
  });
  it("takes two corners for a box with its edges, as the server does", () => {
    const points = { x: Float32Array.of(0, 1, 1.5), y: Float32Array.of(0, 1, 0.5) };
    expect([...rowsInside(points, [[1, 1], [0, 0]])]).toEqual([1, 1, 0]);
  });
  it("holds nothing where there is no lasso", () => {
    const points = { x: Float32Array.of(0), y: Float32Array.of(0) };
    expect([...rowsInside(points, [])]).toEqual([0]);
    expect([...rowsInside(points, [[0, 0]])]).toEqual([0]);
    expect([...rowsInside(points, [[NaN, 0], [1, 1], [2, 0]])]).toEqual([0]);
  });
});

describe("simplified", () => {
  const circle = Array.from({ length: 500 }, (_, i): Place => [200 + 100 * Math.cos((i / 500) * 2 * Math.PI), 200 + 100 * Math.sin((i / 500) * 2 * Math.PI)]);
  it("keeps to the most corners and nearly the same area", () => {
    const few = simplified(circle, 0.01);
    expect(few).toHaveLength(MOST_CORNERS);
    expect(areaOf(few) / areaOf(circle)).toBeGreaterThan(0.97);
  });
  it("needs four corners for a square drawn with many", () => {
    const side = Array.from({ length: 25 }, (_, i) => 4 * i);
    const square: Place[] = [...side.map((v): Place => [v, 0]), ...side.map((v): Place => [100, v]), ...side.map((v): Place => [100 - v, 100]), ...side.map((v): Place => [0, 100 - v])];
    expect(simplified(square, 1)).toEqual([[0, 0], [100, 0], [100, 100], [0, 100]]);
  });
  it("keeps the order of the line, so that one which crosses itself still does", () => {
    const eight = Array.from({ length: 200 }, (_, i): Place => [100 * Math.sin((i / 200) * 2 * Math.PI), 60 * Math.sin((i / 200) * 4 * Math.PI)]);
    const few = simplified(eight, 1);
    const mask = rowsInside({ x: Float32Array.of(50, -50, 0), y: Float32Array.of(0, 0, 50) }, few);
    expect(few.length).toBeLessThanOrEqual(MOST_CORNERS);
    expect([...mask]).toEqual([1, 1, 0]);
  });
  it("leaves what is small as it is, without doubled places", () => {
    expect(simplified([[0, 0], [0, 0], [1, 0], [0, 1], [0, 0]], 1)).toEqual([[0, 0], [1, 0], [0, 1]]);
    expect(simplified([], 1)).toEqual([]);
    expect(simplified(Array.from({ length: 50 }, (): Place => [3, 3]), 1)).toEqual([[3, 3]]);
  });
});
