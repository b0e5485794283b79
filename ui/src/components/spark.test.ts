import { expect, it } from "vitest";
import { sparkShape } from "./spark";

it("spans the box from the highest to the lowest value", () => {
  expect(sparkShape([2, 1, 0], 24, 14, 2)).toEqual({ path: "M2 2L12 7L22 12", last: { x: 22, y: 12 }, gaps: 0 });
});
it("leaves a gap where a value is not finite", () => {
  expect(sparkShape([1, 0, null, 1, 0], 44, 14, 2).path).toBe("M2 2L12 12M32 2L42 12");
});
it("draws a value alone between gaps as a dot", () => {
  expect(sparkShape([null, 1, null, 0, 1], 44, 14, 2).path).toBe("M12 2h0M32 12L42 2");
});
it("draws values that are all equal in the middle", () => {
  expect(sparkShape([3, 3], 24, 14, 2).path).toBe("M2 7L22 7");
});
it("draws nothing of nothing", () => {
  expect(sparkShape([], 24, 14)).toEqual({ path: "", last: null, gaps: 0 });
  expect(sparkShape([null, NaN], 24, 14)).toEqual({ path: "", last: null, gaps: 2 });
});
it("puts a single value at the left", () => {
  expect(sparkShape([5], 24, 14, 2).path).toBe("M2 7h0");
});
