import { expect, it } from "vitest";
import { toggledRun, withRange } from "./selection";

const ids = new Map([[3, "c"], [4, "d"], [5, "e"], [7, "g"]]);

it("selects and lets go", () => {
  expect(toggledRun(["a"], "b")).toEqual(["a", "b"]);
  expect(toggledRun(["a", "b"], "a")).toEqual(["b"]);
});
it("selects a range in both directions, each once", () => {
  expect(withRange(["d"], ids, 3, 5)).toEqual(["d", "c", "e"]);
  expect(withRange([], ids, 5, 3)).toEqual(["e", "d", "c"]);
});
it("leaves out rows that were never loaded", () => {
  expect(withRange([], ids, 5, 7)).toEqual(["e", "g"]);
});
