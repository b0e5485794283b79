import { describe, expect, it } from "vitest";
import { indexOf, nearest } from "./picking";
import { HIDDEN, SHOWN, type Points } from "./types";

let state = 3;
const random = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;

function cloud(count: number): Points {
  return { x: Float32Array.from({ length: count }, () => 10 * random() ** 3), y: Float32Array.from({ length: count }, () => random() - 4) };
}

describe("nearest", () => {
  it("finds the same with an index as without", () => {
    for (const count of [1, 2, 7, 5000]) {
      const points = cloud(count), index = indexOf(points);
      const flags = Uint8Array.from({ length: count }, () => (random() < 0.3 ? HIDDEN : SHOWN));
      for (let i = 0; i < 300; i++) {
        const x = 14 * random() - 2, y = 3 * random() - 5, reach = 10 ** (3 * random() - 2);
        expect(nearest(points, flags, index, x, y, reach)).toBe(nearest(points, flags, null, x, y, reach));
      }
    }
  });
  it("finds nothing that is too far away, hidden or nowhere", () => {
    const points = { x: Float32Array.of(0, NaN, 1), y: Float32Array.of(0, 0, 0) };
    const index = indexOf(points);
    expect(nearest(points, null, index, 0.4, 0, 0.5)).toBe(0);
    expect(nearest(points, null, index, 0.4, 0, 0.3)).toBe(-1);
    expect(nearest(points, Uint8Array.of(HIDDEN, SHOWN, SHOWN), index, 0.4, 0, 1)).toBe(2);
    expect(index.order).toHaveLength(2);
  });
  it("finds the first of several at one place", () => {
    const points = { x: Float32Array.of(5, 5, 5), y: Float32Array.of(5, 5, 5) };
    expect(nearest(points, null, indexOf(points), 5, 5, 1)).toBe(0);
  });
  it("finds nothing among nothing", () => {
    const none = { x: new Float32Array(0), y: new Float32Array(0) };
    expect(nearest(none, null, indexOf(none), 0, 0, 1)).toBe(-1);
    const nowhere = { x: Float32Array.of(NaN), y: Float32Array.of(NaN) };
    expect(nearest(nowhere, null, indexOf(nowhere), 0, 0, 1e9)).toBe(-1);
  });
  it("is not led astray by one point that lies far from all others", () => {
    const points = cloud(1000);
    points.x[17] = 1e6;
    const index = indexOf(points);
    expect(nearest(points, null, index, 1e6, -3.5, 2)).toBe(17);
    expect(nearest(points, null, index, points.x[400]!, points.y[400]!, 1e-6)).toBe(400);
  });
});
