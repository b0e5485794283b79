import { describe, expect, it } from "vitest";
import { pagesOf, scrollFor, windowOf } from "./virtual";

describe("windowOf", () => {
  it("draws what is in sight and a little more", () => {
    expect(windowOf(1000, 400, 40, 10_000, 5)).toEqual({ first: 20, end: 40, before: 800, after: (10_000 - 40) * 40 });
  });
  it("always comes to the height of all rows", () => {
    for (const scroll of [-50, 0, 17, 399_600, 1e9]) {
      const found = windowOf(scroll, 600, 40, 10_000);
      expect(found.before + (found.end - found.first) * 40 + found.after).toBe(400_000);
      expect(found.first).toBeGreaterThanOrEqual(0);
      expect(found.end).toBeLessThanOrEqual(10_000);
    }
  });
  it("draws nothing of nothing", () => {
    expect(windowOf(0, 600, 40, 0)).toEqual({ first: 0, end: 0, before: 0, after: 0 });
  });
  it("draws the few rows that there are", () => {
    expect(windowOf(0, 600, 40, 3)).toEqual({ first: 0, end: 3, before: 0, after: 0 });
  });
});

describe("pagesOf", () => {
  it.each([
    [0, 1, [0]],
    [0, 100, [0]],
    [99, 101, [0, 1]],
    [250, 260, [2]],
    [5, 5, []],
  ])("rows %i to %i are on pages %j", (first, end, pages) => {
    expect(pagesOf(first, end, 100)).toEqual(pages);
  });
});

describe("scrollFor", () => {
  it("stays where the row is in sight", () => {
    expect(scrollFor(12, 400, 400, 40)).toBe(400);
  });
  it("goes up to a row above", () => {
    expect(scrollFor(3, 400, 400, 40)).toBe(120);
  });
  it("goes down just enough, less what covers the top", () => {
    expect(scrollFor(20, 400, 400, 40)).toBe(440);
    expect(scrollFor(20, 400, 400, 40, 30)).toBe(470);
  });
});
