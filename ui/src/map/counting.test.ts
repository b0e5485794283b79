import { describe, expect, it } from "vitest";
import { binned } from "./binning";
import { chosenOf, codeCounts, countsOf, firstOf, meanOf, meansOf, orderOf, together } from "./counting";

function random(seed: number): () => number {
  let state = seed;
  return () => ((state = (state * 1103515245 + 12345) % 2147483648) / 2147483648);
}

describe("what is selected", () => {
  it("is what all masks hold for", () => {
    expect(together([])).toBeNull();
    expect([...together([Uint8Array.of(1, 1, 0), Uint8Array.of(0, 1, 1)])!]).toEqual([0, 1, 0]);
    expect([...chosenOf(Uint8Array.of(0, 1, 0, 1))!]).toEqual([1, 3]);
    expect(chosenOf(null)).toBeNull();
  });

  it("leaves the masks as they were", () => {
    const mask = Uint8Array.of(1, 1);
    together([mask, Uint8Array.of(0, 1)]);
    expect([...mask]).toEqual([1, 1]);
  });
});

describe("counting", () => {
  const column = binned({ kind: "category", name: "label", codes: Int32Array.of(0, 1, 1, -1), names: ["a", "b"] });

  it("counts all, or the selection", () => {
    expect([...countsOf(column, null)]).toEqual([1, 2]);
    expect([...countsOf(column, Uint32Array.of(1, 3))]).toEqual([0, 1]);
    expect([...codeCounts(Int32Array.of(0, 1, 1, -1), 2, null)]).toEqual([1, 2]);
    expect([...codeCounts(Int32Array.of(0, 1, 1, -1), 2, Uint32Array.of(2))]).toEqual([0, 1]);
  });

  it("has means with their intervals, of finite values", () => {
    const values = Float32Array.of(1, 2, 4, 7);
    const means = meansOf(column, values, null);
    expect(means[0]).toMatchObject({ count: 1, mean: 1, half: NaN });
    expect(means[1]!.mean).toBe(3);
    // Two samples have one degree of freedom: Student's interval is wide.
    expect(means[1]!.half).toBeCloseTo((12.7062 * Math.SQRT2) / Math.SQRT2, 3);
    expect(meansOf(column, Float32Array.of(NaN, 2, Infinity, 7), null)[1]).toMatchObject({ count: 1, mean: 2 });
    expect(meanOf(Float32Array.of(1, NaN, 3), null)).toBe(2);
    expect(meanOf(Float32Array.of(1, NaN, 3), Uint32Array.of(2))).toBe(3);
    expect(meanOf(Float32Array.of(1), new Uint32Array())).toBeNaN();
  });
});

describe("sorting", () => {
  it("sorts as numbers sort, with what is missing last both ways", () => {
    const keys = Float32Array.of(3, -1, NaN, 0, -0, 2.5, -7);
    expect([...orderOf(keys, null, false)]).toEqual([6, 1, 3, 4, 5, 0, 2]);
    expect([...orderOf(keys, null, true)]).toEqual([0, 5, 3, 4, 1, 6, 2]);
    expect([...orderOf(keys, Uint32Array.of(0, 1, 2), true)]).toEqual([0, 1, 2]);
  });

  it("tells doubles apart that are one float", () => {
    const keys = Float64Array.of(1700000000.2, 1700000000.1, -1700000000.2, -1700000000.1, NaN);
    expect([...orderOf(keys, null, false)]).toEqual([2, 3, 1, 0, 4]);
    expect([...orderOf(keys, null, true)]).toEqual([0, 1, 3, 2, 4]);
  });

  it("agrees with a plain sort", () => {
    const next = random(1);
    const keys = Float64Array.from({ length: 500 }, () => Math.round((next() - 0.5) * 100) / 4);
    const plain = [...keys.keys()].sort((a, b) => keys[b]! - keys[a]!);
    expect([...orderOf(keys, null, true)]).toEqual(plain);
  });

  it("finds the first of many without sorting all", () => {
    const next = random(2);
    const keys = Float32Array.from({ length: 5000 }, (_, i) => (i % 7 === 0 ? NaN : next()));
    for (const descending of [true, false]) expect([...firstOf(keys, null, 20, descending)]).toEqual([...orderOf(keys, null, descending).slice(0, 20)]);
    const chosen = Uint32Array.from({ length: 1000 }, (_, i) => i * 3);
    expect([...firstOf(keys, chosen, 20, true)]).toEqual([...orderOf(keys, chosen, true).slice(0, 20)]);
  });

  it("fills up with those that have no key", () => {
    const keys = new Float32Array(1000).fill(NaN);
    keys[500] = 1;
    expect([...firstOf(keys, null, 3, true)]).toEqual([500, 0, 1]);
  });
});
