import { expect, it } from "vitest";
import { firstQuestions } from "./first_questions";

it("asks for a run, its series and its findings at once", () => {
  expect(firstQuestions({ page: "run", run: "a b" }).map(([path]) => path)).toEqual(["runs/a%20b", "runs/a%20b/scalars", "runs/a%20b/findings"]);
});
it("asks for the run alone where another tab is shown", () => {
  expect(firstQuestions({ page: "tensors", run: "x" })).toEqual([["runs/x", {}]]);
});
it("asks nothing where no run is shown", () => {
  expect(firstQuestions({ page: "runs" })).toEqual([]);
});
