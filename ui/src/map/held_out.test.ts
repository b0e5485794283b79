import { describe, expect, it } from "vitest";
import type { CodedColumn } from "./columns";
import { counted, heldOut } from "./held_out";

const subset = (codes: number[], names = ["training", "validation", "test", "unlabeled"]): CodedColumn => ({ kind: "category", name: "subset", codes: Int32Array.from(codes), names });
const all = (): boolean => true;

describe("which points a model is judged by", () => {
  it("are the held-out ones, and it is known how many training ones do not count", () => {
    const found = counted(subset([0, 1, 0, 2, 3, -1]), all, null, false);
    expect([[...found.points!], found.left, found.mixed]).toEqual([[1, 3], 2, false]);
  });
  it("are those of the selection", () => {
    const found = counted(subset([0, 1, 0, 2]), all, Uint32Array.of(2, 3), false);
    expect([[...found.points!], found.left]).toEqual([[3], 1]);
  });
  it("are those of training where no held-out one has an answer", () => {
    expect([...counted(subset([0, 1, 0, 2]), (i) => i === 0 || i === 2, null, false).points!]).toEqual([0, 2]);
    expect(counted(subset([0, 1, 0, 2]), (i) => i === 0 || i === 2, null, false).left).toBe(0);
  });
  it("are all where somebody asked for subsets, and it is known whether training is among them", () => {
    expect(counted(subset([0, 1]), all, null, true)).toEqual({ points: null, left: 0, mixed: true });
    expect(counted(subset([0, 0]), all, null, true).mixed).toBe(false);
    expect(counted(subset([1, 2]), all, null, true).mixed).toBe(false);
  });
  it("have names that a condition can take", () => {
    expect(heldOut(["training", "test", "unlabeled", "samples"])).toEqual(["test", "samples"]);
  });
});
