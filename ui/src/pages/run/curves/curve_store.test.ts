import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Curve } from "../../../lib/series";
import type { AskCurves, CurveQuestion } from "./curve_store.svelte";

vi.stubGlobal("document", { baseURI: "http://localhost/" });
const { CurveStore } = await import("./curve_store.svelte");

/** A run of one value a step, which thins to every tenth where more than 100 are asked for. */
class Training {
  steps = 50;
  questions: CurveQuestion[] = [];
  fails = false;

  ask: AskCurves = async (question) => {
    this.questions.push(question);
    if (this.fails) throw new Error("gone");
    const first = question.from ?? 0;
    const last = Math.min(question.to ?? Infinity, this.steps - 1);
    const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
    const every = all.length > 100 ? 10 : 1;
    return new Map(question.series.map((series) => [series, curve(all.filter((step) => every === 1 || step % 10 === 9), all.length, every)]));
  };
}

function curve(steps: number[], whole: number, every: number): Curve {
  const step = Float64Array.from(steps);
  return { step, epoch: step, time: step, value: step, min: step, max: step, nonfinite: step, whole, every };
}
const settle = () => new Promise((done) => setTimeout(done, 0));

let training: Training;
let store: InstanceType<typeof CurveStore>;
beforeEach(() => {
  training = new Training();
  store = new CurveStore(training.ask);
});

describe("wanting", () => {
  it("asks once for what several charts want in one moment", async () => {
    store.want(["loss@TRAIN", "loss@EVAL"]);
    store.want(["lr@TRAIN", "loss@TRAIN"]);
    await settle();
    expect(training.questions).toEqual([{ series: ["loss@TRAIN", "loss@EVAL", "lr@TRAIN"], from: null, to: null }]);
    expect(store.get("lr@TRAIN")!.step).toHaveLength(50);
  });
  it("asks for what is known already no second time", async () => {
    store.want(["loss@TRAIN"]);
    await settle();
    store.want(["loss@TRAIN"]);
    await settle();
    expect(training.questions).toHaveLength(1);
  });
  it("never asks for more than a hundred series at once", async () => {
    store.want(Array.from({ length: 230 }, (_, i) => `m${i}@TRAIN`));
    await settle();
    expect(Math.max(...training.questions.map(({ series }) => series.length))).toBeLessThanOrEqual(100);
    expect(training.questions.flatMap(({ series }) => series)).toHaveLength(230);
  });
});

describe("a growing run", () => {
  it("is asked for its tail only", async () => {
    store.want(["loss@TRAIN"]);
    await settle();
    training.steps = 60;
    await store.tail();
    expect(training.questions.at(-1)).toEqual({ series: ["loss@TRAIN"], from: 49, to: null });
    expect([...store.get("loss@TRAIN")!.step].slice(-2)).toEqual([58, 59]);
  });
  it("is asked once for curves that end near each other", async () => {
    store.want(["loss@TRAIN"]);
    await settle();
    training.steps = 60;
    store.want(["accuracy@EVAL"]);
    await settle();
    training.steps = 70;
    const before = training.questions.length;
    await store.tail();
    expect(training.questions.slice(before)).toEqual([{ series: ["loss@TRAIN", "accuracy@EVAL"], from: 49, to: null }]);
    expect(store.get("accuracy@EVAL")!.step).toHaveLength(70);
    expect(store.get("accuracy@EVAL")!.whole).toBe(70);
  });
  it("lets go of curves that nobody looks at", async () => {
    const release = store.want(["loss@TRAIN"]);
    await settle();
    release();
    await store.tail();
    expect(training.questions).toHaveLength(1);
    expect(store.get("loss@TRAIN")).toBeUndefined();
  });
});

describe("a window", () => {
  it("is asked for in full where the whole is thinned, and lies between what is known", async () => {
    training.steps = 1000;
    store.want(["loss@TRAIN"]);
    store.setWindow(500, 520);
    await settle();
    await settle();
    const steps = [...store.get("loss@TRAIN")!.step];
    expect(steps).toContain(507);
    expect(steps[0]).toBe(9);
    expect(steps.at(-1)).toBe(999);
    expect(store.get("loss@TRAIN")!.every).toBe(1);
  });
  it("is not asked for where nothing is thinned", async () => {
    store.want(["loss@TRAIN"]);
    store.setWindow(10, 20);
    await settle();
    await settle();
    expect(training.questions).toHaveLength(1);
  });
  it("grows with the run and stays in full", async () => {
    training.steps = 1000;
    store.want(["loss@TRAIN"]);
    store.setWindow(990, null);
    await settle();
    await settle();
    training.steps = 1005;
    await store.tail();
    expect([...store.get("loss@TRAIN")!.step].slice(-7)).toEqual([998, 999, 1000, 1001, 1002, 1003, 1004]);
  });
  it("gives the whole back when it is gone", async () => {
    training.steps = 1000;
    store.want(["loss@TRAIN"]);
    store.setWindow(500, 520);
    await settle();
    await settle();
    store.setWindow(null, null);
    expect(store.get("loss@TRAIN")!.every).toBe(10);
  });
});

it("says what went wrong, and asks again after a restart", async () => {
  training.fails = true;
  store.want(["loss@TRAIN"]);
  await settle();
  expect(store.error?.message).toContain("is not responding");
  training.fails = false;
  store.restart();
  await settle();
  expect(store.error).toBeUndefined();
  expect(store.get("loss@TRAIN")!.step).toHaveLength(50);
});
