import { describe, expect, it } from "vitest";
import type { SeenSample } from "../../../api/schema";
import { isRight, moved, sorted, valueNames, valueText, windowFrom, windowText } from "./window";

function sample(id: string, step = 0, more: Partial<SeenSample> = {}): SeenSample {
  return { sample: id, step, values: {}, label: null, prediction: null, evaluation: null, preview: false, ...more };
}

describe("a window of steps", () => {
  it("is what the address names, put right", () => {
    expect(windowFrom(null, null, 100)).toBeNull();
    expect(windowFrom(5, null, 100)).toEqual({ from: 5, to: 100 });
    expect(windowFrom(null, 7, 100)).toEqual({ from: 7, to: 7 });
    expect(windowFrom(9, 3, 100)).toEqual({ from: 9, to: 9 });
    expect(windowFrom(-4, 3, 100)).toEqual({ from: 0, to: 3 });
  });
  it("moves by its own length and stops at the ends of the run", () => {
    expect(moved({ from: 10, to: 14 }, 1, 0, 16)).toEqual({ from: 15, to: 16 });
    expect(moved({ from: 3, to: 7 }, -1, 0, 16)).toEqual({ from: 0, to: 2 });
    expect(moved({ from: 0, to: 4 }, -1, 0, 16)).toBeNull();
    expect(moved({ from: 12, to: 16 }, 1, 0, 16)).toBeNull();
  });
  it("is told in words", () => {
    expect([windowText({ from: 4, to: 4 }), windowText({ from: 4, to: 1200 })]).toEqual(["step 4", "steps 4 to 1,200"]);
  });
});

describe("samples", () => {
  it("have their loss as the first value", () => {
    expect(valueNames([sample("a", 0, { values: { correct: 1, aux_loss: 2 } }), sample("b", 0, { values: { loss: 3 } })])).toEqual(["loss", "aux_loss", "correct"]);
  });
  it("a loss that was saved and is no number is said to be so, one that was not saved is a dash", () => {
    const one = sample("a", 0, { values: { loss: null, correct: 0 } });
    expect([valueText(one, "loss"), valueText(one, "margin"), valueText(one, "correct")]).toEqual(["not finite", "–", "no"]);
  });
  it("are right, wrong, or not evaluated", () => {
    expect([isRight(sample("a", 0, { label: "3", prediction: "3" })), isRight(sample("a", 0, { label: "3", prediction: "8" })), isRight(sample("a"))]).toEqual([true, false, null]);
  });
  it("are sorted by step or by name, numbers in names as numbers", () => {
    const some = [sample("x/10", 2), sample("x/9", 3), sample("x/1", 1)];
    expect(sorted(some, "sample").map((one) => one.sample)).toEqual(["x/1", "x/9", "x/10"]);
    expect(sorted(some, "step").map((one) => one.step)).toEqual([1, 2, 3]);
    expect(sorted(some, "worst").map((one) => one.step)).toEqual([2, 3, 1]);
  });
});
