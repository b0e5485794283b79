import { describe, expect, it } from "vitest";
import { extentOf, fitted, panned, pointDiameter, rounded, roundedPlaces, toMap, toScreen, wheelFactor, zoomed } from "./camera";

const size = { width: 800, height: 600 };
const extent = { left: -2, bottom: 10, right: 6, top: 12 };
const whole = fitted(extent, size);

describe("extentOf", () => {
  it("leaves out what has no place, or half of one", () => {
    const points = { x: Float32Array.of(NaN, 1, 3, 9, Infinity), y: Float32Array.of(5, 2, -4, NaN, 0) };
    expect(extentOf(points)).toEqual({ left: 1, right: 3, bottom: -4, top: 2 });
  });
  it("is null where there is nothing", () => {
    expect(extentOf({ x: Float32Array.of(NaN), y: Float32Array.of(1) })).toBeNull();
  });
});

describe("fitted", () => {
  it("shows everything with a margin", () => {
    const [left, top] = toScreen(whole, size, extent.left, extent.top), [right, bottom] = toScreen(whole, size, extent.right, extent.bottom);
    expect(left).toBeGreaterThan(20);
    expect(right).toBeLessThan(780);
    expect(top).toBeGreaterThan(20);
    expect(bottom).toBeLessThan(580);
    expect(left).toBeCloseTo(800 - right);
  });
  it("has a scale for one point, and for none", () => {
    expect(fitted({ left: 3, right: 3, bottom: 4, top: 4 }, size)).toEqual({ x: 3, y: 4, scale: 1 });
    expect(fitted(null, size).scale).toBe(1);
    expect(fitted({ left: 0, right: 0, bottom: 0, top: 2 }, size).scale).toBeGreaterThan(1);
  });
});

describe("views", () => {
  it("go to the screen and back", () => {
    const [x, y] = toMap(whole, size, 123, 456);
    const [left, top] = toScreen(whole, size, x, y);
    expect(left).toBeCloseTo(123);
    expect(top).toBeCloseTo(456);
  });
  it("have y grow upwards", () => {
    expect(toMap(whole, size, 400, 0)[1]).toBeGreaterThan(toMap(whole, size, 400, 600)[1]);
  });
  it("are panned as if held", () => {
    const [x, y] = toMap(whole, size, 100, 100);
    const [left, top] = toScreen(panned(whole, 30, -20), size, x, y);
    expect(left).toBeCloseTo(130);
    expect(top).toBeCloseTo(80);
  });
  it("are zoomed around the pointer", () => {
    const at = { left: 700, top: 50 };
    const before = toMap(whole, size, at.left, at.top);
    const near = zoomed(whole, size, 3, at, whole);
    expect(near.scale).toBeCloseTo(3 * whole.scale);
    const after = toMap(near, size, at.left, at.top);
    expect(after[0]).toBeCloseTo(before[0]);
    expect(after[1]).toBeCloseTo(before[1]);
  });
  it("are not zoomed without end", () => {
    const at = { left: 0, top: 0 };
    expect(zoomed(whole, size, 1e9, at, whole).scale).toBeLessThan(1e6 * whole.scale);
    expect(zoomed(whole, size, 1e-9, at, whole).scale).toBeGreaterThan(0.1 * whole.scale);
  });
  it("are short in an address, and the same to a pixel", () => {
    const view = { x: 1.23456789012, y: -0.000123456789, scale: 137.123456 };
    const short = rounded(view);
    expect(JSON.stringify(short).length).toBeLessThan(40);
    expect(Math.abs(short.x - view.x) * view.scale).toBeLessThan(0.26);
    expect(roundedPlaces([[1 / 3, 2e7 / 3]], 100)).toEqual([[0.333, 6666666.667]]);
  });
});

describe("wheelFactor", () => {
  it("goes nearer upwards, and as far back", () => {
    const up = wheelFactor({ deltaY: -100, deltaMode: 0, ctrlKey: false }), down = wheelFactor({ deltaY: 100, deltaMode: 0, ctrlKey: false });
    expect(up).toBeGreaterThan(1);
    expect(up * down).toBeCloseTo(1);
  });
  it("does not leap, however much a wheel says", () => {
    expect(wheelFactor({ deltaY: -1e6, deltaMode: 2, ctrlKey: false })).toBeLessThan(2);
  });
});

describe("pointDiameter", () => {
  it("is smaller for more points, and larger where one looks closer", () => {
    const counts = [10, 2000, 60_000, 1_000_000].map((count) => pointDiameter(count, 1));
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(pointDiameter(60_000, 10)).toBeGreaterThan(pointDiameter(60_000, 1));
    expect(pointDiameter(1_000_000, 1)).toBeGreaterThan(1);
    expect(pointDiameter(0, 1e9)).toBeLessThanOrEqual(14);
  });
});
