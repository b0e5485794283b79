import { describe, expect, it } from "vitest";
import { around, evidenceRows } from "./evidence";

describe("evidence", () => {
  it("numbers are formatted and what is missing is left out", () => {
    expect(evidenceRows({ l2_before: 2.33604609, since: 81, none: null })).toEqual([
      { key: "l2 before", text: "2.336", entries: [], more: 0 },
      { key: "since", text: "81", entries: [], more: 0 },
    ]);
  });
  it("long lists are cut and say how many are left out", () => {
    const [row] = evidenceRows({ samples: Array.from({ length: 40 }, (_, i) => `s${i}`) });
    expect([row!.entries.length, row!.more]).toEqual([12, 28]);
    expect(evidenceRows({ samples: Array.from({ length: 40 }, (_, i) => `s${i}`) }, true)[0]!.more).toBe(0);
  });
  it("maps keep their names beside their values", () => {
    expect(evidenceRows({ tensors: { a: 0.5, b: null } })[0]!.entries).toEqual([{ name: "a", text: "0.5" }]);
  });
  it("an empty list is none", () => {
    expect(evidenceRows({ names: [], parameters: { names: [] } }).map((row) => row.text || row.entries[0]!.text)).toEqual(["none", "none"]);
  });
  it("a text of a stranger is cut, never as long as it likes", () => {
    expect(evidenceRows({ text: "x".repeat(1000) })[0]!.text).toHaveLength(301);
  });
});

describe("the steps around a window", () => {
  it("have room on both sides and stay inside the run", () => {
    expect(around(10, 12, 400)).toEqual({ from: 0, to: 42 });
    expect(around(390, 395, 400)).toEqual({ from: 360, to: 400 });
    expect(around(null, 4, 400)).toBeNull();
  });
});
