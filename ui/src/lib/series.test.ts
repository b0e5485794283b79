import { describe, expect, it } from "vitest";
import { appended, AxisMap, curvesOf, lastStep, placesOf, shownNote, stitched, type Curve } from "./series";

function curve(steps: number[], changes: Partial<Curve> = {}): Curve {
  const step = Float64Array.from(steps);
  const value = step.map((one) => one * 10);
  return { step, epoch: step.map((one) => one / 10), time: step.map((one) => 1000 + one * 2), value, min: value, max: value, nonfinite: step.map(() => 0), whole: steps.length, every: 1, ...changes };
}

describe("curvesOf", () => {
  const rows = { step: [0, 1, 2, 0, 5], epoch: [0, 0, 0, 0, 0], time: [1, 2, 3, 1, 6], value: [9, 8, NaN, 1, 2], min: [9, 8, 7, 1, 2], max: [9, 8, 8, 1, 2], nonfinite: [0, 0, 1, 0, 0] };
  const columns = {
    texts: () => ["loss@TRAIN", "loss@TRAIN", "loss@TRAIN", "loss@EVAL", "loss@EVAL"],
    numbers: (name: string) => Float64Array.from(rows[name as keyof typeof rows]),
    about: (key: string) =>
      ({ points: '{"loss@TRAIN": 30, "loss@EVAL": 2, "lr@TRAIN": 0}', thinned: '["loss@TRAIN"]', approximate: '{"loss@EVAL": "every 64 steps"}' })[key] ?? null,
  };
  it("takes an answer apart by series", () => {
    const found = curvesOf(columns);
    expect([...found.keys()]).toEqual(["loss@TRAIN", "loss@EVAL", "lr@TRAIN"]);
    expect([...found.get("loss@EVAL")!.step]).toEqual([0, 5]);
    expect(found.get("loss@EVAL")!.every).toBe(1);
  });
  it("says how many values a point stands for", () => {
    expect(curvesOf(columns).get("loss@TRAIN")).toMatchObject({ whole: 30, every: 10 });
  });
  it("says where points were not read one by one, also with a tail", () => {
    const found = curvesOf(columns).get("loss@EVAL")!;
    expect(shownNote([appended(found, curve([6, 7]))])).toBe("every 64 steps");
    expect(shownNote([curvesOf(columns).get("loss@TRAIN")!])).toBe("1 in 10 of 30 values");
  });
  it("has series without a point, empty", () => {
    expect(curvesOf(columns).get("lr@TRAIN")!.step).toHaveLength(0);
    expect(lastStep(curvesOf(columns).get("lr@TRAIN")!)).toBe(-1);
  });
});

describe("appended", () => {
  it("adds what is new and nothing twice", () => {
    const all = appended(curve([0, 1, 2]), curve([2, 3, 4]));
    expect([...all.step]).toEqual([0, 1, 2, 3, 4]);
    expect([...all.value]).toEqual([0, 10, 20, 30, 40]);
    expect(all.whole).toBe(5);
  });
  it("takes the newer of two values of one step", () => {
    const newer = curve([1], { value: Float64Array.of(99) });
    expect([...appended(curve([0, 1]), newer).value]).toEqual([0, 99]);
  });
  it("keeps a point that stands for several values", () => {
    const all = appended(curve([9, 19], { every: 10, whole: 20 }), curve([19, 20, 21]));
    expect([...all.step]).toEqual([9, 19, 20, 21]);
    expect(all).toMatchObject({ whole: 22, every: 10 });
  });
  it("is the same curve where nothing is new", () => {
    const [whole, thinned] = [curve([0, 1]), curve([9, 19], { every: 10, whole: 20 })];
    expect(appended(whole, curve([1]))).toBe(whole);
    expect(appended(whole, curve([]))).toBe(whole);
    expect(appended(thinned, curve([19]))).toBe(thinned);
  });
});

it("puts a window between what is known outside of it", () => {
  const all = stitched(curve([0, 10, 20, 30], { every: 10, whole: 31 }), curve([9, 10, 11]), 9, 11);
  expect([...all.step]).toEqual([0, 9, 10, 11, 20, 30]);
  expect(all).toMatchObject({ whole: 3, every: 1 });
  expect([...stitched(curve([0, 10, 20]), curve([15, 20]), 15, null).step]).toEqual([0, 10, 15, 20]);
});

describe("AxisMap", () => {
  const map = AxisMap.of([curve([0, 10, 20]), curve([5])], "time", 1000);
  it("goes from a step to its place and back", () => {
    expect(map.place(10)).toBe(20);
    expect(map.step(20)).toBe(10);
    expect(map.place(15)).toBe(30);
    expect(map.step(30)).toBe(15);
  });
  it("stays inside what is known", () => {
    expect(map.place(-5)).toBe(0);
    expect(map.step(1e9)).toBe(20);
    expect(map.extent).toEqual({ min: 0, max: 40 });
    expect(map.lastStep).toBe(20);
  });
  it("leaves out what has no place", () => {
    const none = AxisMap.of([curve([0, 1], { epoch: Float64Array.of(NaN, NaN) })], "epoch", 0);
    expect(none.extent).toBeNull();
    expect(none.place(0)).toBeNull();
  });
});

it("measures time from the start and shows the clock as it is", () => {
  expect([...placesOf(curve([0, 1]), "time", 1000)]).toEqual([0, 2]);
  expect([...placesOf(curve([0, 1]), "wall", 1000)]).toEqual([1000, 1002]);
});
it("says how much is shown", () => {
  expect(shownNote([curve([0, 1, 2])])).toBe("all 3 values");
  expect(shownNote([curve([0, 1], { every: 7, whole: 7000 })])).toBe("1 in 7 of 7,000 values");
  expect(shownNote([])).toBe("");
});
