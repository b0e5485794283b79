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
it("asks for the population at once, of the evaluation that the address names", () => {
  expect(firstQuestions({ page: "population", run: "x" }, new URLSearchParams("evaluation=1"))).toEqual([
    ["runs/x", {}],
    ["runs/x/population", { evaluation: "1" }],
  ]);
});
it("asks for a sample at once, where one is named", () => {
  expect(firstQuestions({ page: "sample", run: "x" }, new URLSearchParams("sample=a/1")).map(([path]) => path)).toEqual(["runs/x", "runs/x/sample", "runs/x/population"]);
  expect(firstQuestions({ page: "sample", run: "x" })).toEqual([["runs/x", {}]]);
});
