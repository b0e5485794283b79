import { describe, expect, test } from "vitest";
import type { NewJob } from "../../api/schema";
import { sameJob, whyNot } from "./starting";

const running = { state: "running", kind: "analyze", what: "map", other: "", run: "r" } as const;
const wanted: NewJob = { kind: "analyze", run: "r", what: "map", other: "" };

describe("whether a job is the one that is meant", () => {
  test("the same analysis of the same run, while it runs", () => {
    expect(sameJob(running, wanted)).toBe(true);
    expect(sameJob({ ...running, what: "" }, wanted)).toBe(true);
  });
  test("not another analysis, another run, another kind, or one that ended", () => {
    expect(sameJob({ ...running, what: "clusters" }, wanted)).toBe(false);
    expect(sameJob({ ...running, run: "s" }, wanted)).toBe(false);
    expect(sameJob({ ...running, kind: "evaluate" }, wanted)).toBe(false);
    expect(sameJob({ ...running, state: "finished" }, wanted)).toBe(false);
  });
  test("a comparison with the same other run", () => {
    const comparing = { ...running, kind: "compare", what: "", other: "s" } as const;
    expect(sameJob(comparing, { kind: "compare", run: "r", what: "", other: "s" })).toBe(true);
    expect(sameJob(comparing, { kind: "compare", run: "r", what: "", other: "t" })).toBe(false);
  });
});

describe("why something cannot be started", () => {
  const population = { analyses: [{ analysis: "map", made: true, applies: true, reason: "" }, { analysis: "ambiguous", made: false, applies: false, reason: "There are no labels." }] };
  test("says what is missing", () => {
    expect(whyNot({ run: "", kind: "analyze", what: "", other: "" }, undefined, "")).toBe("Choose a run.");
    expect(whyNot({ run: "r", kind: "analyze", what: "", other: "" }, undefined, "There is no evaluation.")).toBe("There is no evaluation.");
    expect(whyNot({ run: "r", kind: "compare", what: "", other: "" }, population, "")).toMatch(/compare with/);
    expect(whyNot({ run: "r", kind: "analyze", what: "ambiguous", other: "" }, population, "")).toBe("There are no labels.");
  });
  test("and nothing where it can", () => {
    for (const what of ["", "map"]) expect(whyNot({ run: "r", kind: "analyze", what, other: "" }, population, "")).toBe("");
    expect(whyNot({ run: "r", kind: "compare", what: "", other: "s" }, population, "")).toBe("");
    expect(whyNot({ run: "r", kind: "evaluate", what: "ambiguous", other: "" }, population, "")).toBe("");
  });
});
