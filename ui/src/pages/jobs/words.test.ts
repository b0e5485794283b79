import { describe, expect, test } from "vitest";
import type { JobRow } from "../../api/schema";
import { doneShare, etaText, isGoing, isOver, progressText, rateText, spokenProgress, stateSentence, STATES, titleOf, tookSeconds } from "./words";

const job: JobRow = {
  id: "a", kind: "analyze", run: "r", run_name: "digits", what: "map", evaluation: null, other: "", state: "running", stage: "placing samples", done: 1200, total: 70000,
  unit: "samples", rate: 312, eta: 221, created: 100, ended: null, error: "", hint: "", command: "cutaway analyze digits map",
};

describe("what a job does", () => {
  test("an analysis is named, without a name it is all of them", () => {
    expect(titleOf(job)).toBe("Analysis: map");
    expect(titleOf({ kind: "analyze", what: "", other: "" })).toBe("All analyses");
    expect(titleOf({ kind: "evaluate", what: "", other: "" })).toBe("Evaluation");
    expect(titleOf({ kind: "compare", what: "", other: "digits-wide" })).toBe("Comparison with digits-wide");
  });
  test("every state has a sentence, and only two of them go on", () => {
    for (const state of STATES) expect(stateSentence({ state, stage: "" })).toMatch(/^[A-Z].*\.$/);
    expect(STATES.filter((state) => isGoing({ state }))).toEqual(["waiting", "running"]);
    expect(isOver({ state: "lost" })).toBe(true);
  });
});

describe("how far it is", () => {
  test("a share of what there is, or nothing where that is unknown", () => {
    expect(doneShare(job)).toBeCloseTo(1200 / 70000);
    expect(doneShare({ ...job, total: null })).toBeNull();
    expect(doneShare({ ...job, total: 0 })).toBeNull();
    expect(doneShare({ ...job, done: 80000 })).toBe(1);
    expect(doneShare({ ...job, total: null, state: "finished" })).toBe(1);
  });
  test("in words", () => {
    expect(progressText(job)).toBe("1,200 of 70,000 samples");
    expect(progressText({ done: 3, total: null, unit: "" })).toBe("3 steps");
    expect(progressText({ done: 0, total: null, unit: "samples" })).toBe("");
    expect(spokenProgress(job)).toBe("placing samples, 1 percent, about 4 minutes left");
  });
  test("the rate turns round below one a second", () => {
    expect(rateText(job)).toBe("312 samples a second");
    expect(rateText({ rate: 0.25, unit: "samples" })).toBe("one every 4 s");
    expect(rateText({ rate: null, unit: "samples" })).toBe("");
    expect(rateText({ rate: 0, unit: "samples" })).toBe("");
  });
  test.each([
    [null, ""],
    [Number.NaN, ""],
    [3, "a few seconds left"],
    [31, "about 40 seconds left"],
    [58, "about 1 minute left"],
    [600, "about 10 minutes left"],
    [3500, "about 1 hour left"],
    [5400, "about 1½ hours left"],
    [40000, "about 11 hours left"],
    [200000, "about 2 days left"],
  ])("%s seconds are %s", (seconds, words) => {
    expect(etaText(seconds)).toBe(words);
  });
  test("it takes until it ends, or until now", () => {
    expect(tookSeconds(job, 130)).toBe(30);
    expect(tookSeconds({ created: 100, ended: 110 }, 130)).toBe(10);
    expect(tookSeconds({ created: null, ended: null }, 130)).toBeNull();
  });
});
