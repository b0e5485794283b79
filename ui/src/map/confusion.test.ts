import { describe, expect, it } from "vitest";
import { confusionOf, stepped } from "./confusion";

describe("confusion", () => {
  const labels = Int32Array.of(0, 0, 1, 1, 2, -1);
  const predictions = Int32Array.of(0, 1, 0, 0, 2, 0);

  it("counts every pair that is known", () => {
    const found = confusionOf(labels, predictions, 3, null);
    expect([...found.counts]).toEqual([1, 1, 0, 2, 0, 0, 0, 0, 1]);
    expect(found).toMatchObject({ most: 2, right: 2, wrong: 3 });
    expect(found.worst[0]).toEqual({ label: 1, prediction: 0, count: 2 });
  });

  it("counts the selection alone", () => {
    expect([...confusionOf(labels, predictions, 3, Uint32Array.of(1)).counts]).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 0]);
  });

  it("shows of many classes those of the worst confusions", () => {
    for (const classes of [100, 5000]) {
      const many = confusionOf(Int32Array.of(7, 7, 90, 3), Int32Array.of(90, 90, 7, 3), classes, null);
      expect(many.shown).toEqual([7, 90]);
      expect([...many.counts]).toEqual([0, 2, 1, 0]);
      expect(many.worst).toHaveLength(2);
    }
  });

  it("is left by no arrow key", () => {
    expect(stepped("ArrowDown", 0, 0, 3)).toEqual([1, 0]);
    expect(stepped("ArrowRight", 0, 2, 3)).toEqual([0, 2]);
    expect(stepped("Home", 1, 2, 3)).toEqual([1, 0]);
    expect(stepped("a", 0, 0, 3)).toBeNull();
  });
});
