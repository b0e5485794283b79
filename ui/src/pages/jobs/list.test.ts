import { describe, expect, test } from "vitest";
import type { JobRow } from "../../api/schema";
import { againOf, filtered, madeBy, runsOf, stateFilter } from "./list";

const job = (changes: Partial<JobRow>): JobRow => ({ id: "1", kind: "analyze", run: "r", run_name: "digits", what: "map", evaluation: 1, other: "", state: "finished", ...changes }) as JobRow;

describe("which jobs are shown", () => {
  const jobs = [job({ state: "running" }), job({ state: "waiting" }), job({ state: "failed" }), job({})];
  test("by state, or those that go on", () => {
    expect(filtered(jobs, "")).toHaveLength(4);
    expect(filtered(jobs, "going").map((one) => one.state)).toEqual(["running", "waiting"]);
    expect(filtered(jobs, "failed")).toHaveLength(1);
  });
  test("an address with a state that does not exist shows all", () => {
    expect(stateFilter("nonsense")).toBe("");
    expect(stateFilter(null)).toBe("");
    expect(stateFilter("lost")).toBe("lost");
    expect(stateFilter("going")).toBe("going");
  });
  test("every run once, by its name", () => {
    expect(runsOf([{ run: "b", run_name: "wide" }, { run: "a", run_name: "digits" }, { run: "b", run_name: "wide" }])).toEqual([{ run: "a", name: "digits" }, { run: "b", name: "wide" }]);
  });
});

describe("what a job made", () => {
  test("a map is seen in the population, insights and labels on their page", () => {
    expect(madeBy(job({}))).toMatchObject({ route: { page: "population", run: "r" } });
    expect(madeBy(job({ what: "" }))).toMatchObject({ route: { page: "population", run: "r" } });
    expect(madeBy(job({ what: "insights" }))).toMatchObject({ route: { page: "insights", run: "r" } });
    expect(madeBy(job({ what: "mislabeled" }))).toMatchObject({ route: { page: "insights", run: "r" }, query: { tab: "labels" } });
    expect(madeBy(job({ kind: "evaluate", what: "" }))).toMatchObject({ route: { page: "population", run: "r" } });
    expect(madeBy(job({ kind: "compare", what: "", other: "s" }))).toMatchObject({ route: { page: "compare" }, query: { run: ["s", "r"] } });
  });
  test("what did not finish made nothing to look at", () => {
    expect(madeBy(job({ state: "failed" }))).toBeNull();
    expect(madeBy(job({ state: "running" }))).toBeNull();
  });
});

test("the same once more asks for the same", () => {
  expect(againOf(job({}))).toEqual({ kind: "analyze", run: "r", evaluation: 1, what: "map", other: "" });
  expect(againOf(job({ kind: "compare", what: "", other: "s" }))).toEqual({ kind: "compare", run: "r", evaluation: 1, what: "", other: "s" });
});
