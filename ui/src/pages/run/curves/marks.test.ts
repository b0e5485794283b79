import { expect, it } from "vitest";
import type { FindingRow } from "../../../api/schema";
import type { Curve } from "../../../lib/series";
import { marksOf, startOf } from "./marks";

const finding = (changes: Partial<FindingRow>): FindingRow => ({ id: "f", code: "nan", severity: "error", message: "NaN in conv1", source: "rule", time: 1, step: 5, attempt: 0, tensor: null, replaced: false, ...changes });
const map = { place: (step: number) => step * 2 };

it("marks a finding where its step is on the axis, and leads to it", () => {
  expect(marksOf([finding({})], map, ({ id }) => `#${id}`)).toEqual([{ x: 10, severity: "error", label: "error at step 5: NaN in conv1", href: "#f" }]);
});
it("marks nothing without a step, nor what a later attempt replaced", () => {
  expect(marksOf([finding({ step: null }), finding({ replaced: true })], map, () => "")).toEqual([]);
  expect(marksOf([finding({})], { place: () => null }, () => "")).toEqual([]);
});
it("begins with the run, or with its first value where that is earlier", () => {
  const curve = { time: Float64Array.of(90, 95) } as Curve;
  expect(startOf([curve], 80)).toBe(80);
  expect(startOf([curve], 100)).toBe(90);
  expect(startOf([curve], null)).toBe(90);
  expect(startOf([], 80)).toBe(80);
  expect(startOf([], null)).toBe(0);
});
