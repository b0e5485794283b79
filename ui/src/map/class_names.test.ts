import { expect, it } from "vitest";
import { namesOnMap } from "./class_names";
import type { CodedColumn } from "./columns";

const column = (codes: number[], names: string[]): CodedColumn => ({ kind: "category", name: "label", codes: Int32Array.from(codes), names });

it("are at a sample of their class, also where it lies in two halves, the largest first", () => {
  const x = Float32Array.of(0, 1, 9, 10, 5, NaN), y = Float32Array.of(0, 0, 0, 0, 7, 0);
  expect(namesOnMap(column([1, 1, 1, 1, 0, 0], ["few", "many", "none"]), { x, y })).toEqual([
    { x: 9, y: 0, text: "many" },
    { x: 5, y: 7, text: "few" },
  ]);
});
it("are none where no sample has a place or a class", () => {
  expect(namesOnMap(column([-1, 0], ["a"]), { x: Float32Array.of(1, NaN), y: Float32Array.of(1, 1) })).toEqual([]);
});
