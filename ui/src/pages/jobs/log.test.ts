import { describe, expect, test } from "vitest";
import { added, atEnd, hasMore, longest, NOTHING } from "./log";

describe("a log in pieces", () => {
  test("pieces follow each other from where the last one ended", () => {
    const first = added(NOTHING, 0, { lines: ["a", "b"], next: 2, ended: false });
    const second = added(first, 2, { lines: ["c"], next: 3, ended: true });
    expect(second).toEqual({ lines: ["a", "b", "c"], next: 3, ended: true, dropped: 0 });
  });
  test("an answer for another place is thrown away", () => {
    const first = added(NOTHING, 0, { lines: ["a", "b"], next: 2, ended: false });
    expect(added(first, 0, { lines: ["a", "b"], next: 2, ended: false })).toBe(first);
  });
  test("nothing new keeps the same lines", () => {
    const first = added(NOTHING, 0, { lines: ["a"], next: 1, ended: false });
    expect(added(first, 1, { lines: [], next: 1, ended: true }).lines).toBe(first.lines);
  });
  test("the oldest are let go, and that is said", () => {
    const kept = added(NOTHING, 0, { lines: ["a", "b", "c"], next: 3, ended: false }, 2);
    expect(kept.lines).toEqual(["b", "c"]);
    expect(kept.dropped).toBe(1);
  });
  test("an endless line is cut, and says by how much", () => {
    const { lines } = added(NOTHING, 0, { lines: ["x".repeat(4100)], next: 1, ended: false });
    expect(lines[0]).toMatch(/… \(100 more characters\)$/);
  });
  test("more is asked for while pieces are full", () => {
    expect(hasMore(0, { lines: ["a"], next: 1, ended: false })).toBe(true);
    expect(hasMore(1, { lines: [], next: 1, ended: true })).toBe(false);
  });
  test("who looks at the end follows it, who scrolled up does not", () => {
    expect(atEnd(900, 100, 1000)).toBe(true);
    expect(atEnd(897, 100, 1000)).toBe(true);
    expect(atEnd(400, 100, 1000)).toBe(false);
  });
  test("the longest line", () => {
    expect(longest(["a", "abc", ""])).toBe(3);
    expect(longest([])).toBe(0);
  });
});
