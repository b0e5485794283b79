import { expect, it } from "vitest";
import { cameFrom } from "./travel";
import type { Points } from "./types";

const points = (samples?: string, from?: Points): Points => ({ x: Float32Array.of(1, 2), y: Float32Array.of(3, 4), samples, from });

it("the same samples in the same order move from where they were", () => {
  const before = points("a");
  expect(cameFrom(before, points("a"))).toBe(before);
});

it("as many other samples do not move, for they were nowhere", () => {
  expect(cameFrom(points("a"), points("b"))).toBeNull();
  expect(cameFrom(points(), points())).toBeNull();
});

it("samples of which the server found the earlier places move from these", () => {
  const earlier = points();
  expect(cameFrom(points("a"), points("b", earlier))).toBe(earlier);
});
