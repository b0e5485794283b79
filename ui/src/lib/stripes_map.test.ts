import { describe, expect, it } from "vitest";
import { BLANK, BROKEN, type Levels } from "./stripes";
import { linesOf, rowHeat } from "./stripes_map";

function levels(cells: number[]): Levels {
  const none = { kind: "none", value: 0 } as const;
  return { cells: Int16Array.from(cells), map: "diverging", legend: { low: none, middle: none, high: none } };
}

describe("the map of all rows", () => {
  it("a row that is as usual is cold, one that is far from it is hot, blank cells count for nothing", () => {
    expect([...rowHeat(levels([128, 128, 255, BLANK, 0, 255]), 3, 2)]).toEqual([0, 254, 255]);
  });
  it("a row with anything that is not finite is broken", () => {
    expect([...rowHeat(levels([128, BROKEN, BLANK, BLANK]), 2, 2)]).toEqual([BROKEN, 0]);
  });
  it("one sick row among thousands is in its line", () => {
    const heat = new Int16Array(2000);
    heat[1234] = BROKEN;
    const lines = linesOf(heat, 400);
    expect(lines.indexOf(BROKEN)).toBe(Math.floor((1234 * 400) / 2000));
    expect(lines.filter((one) => one > 0)).toHaveLength(1);
  });
});
