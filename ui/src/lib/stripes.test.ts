import { describe, expect, it } from "vitest";
import { approximateOf, BLANK, BROKEN, brokenRows, levelsOf, median, paint, type Stripes } from "./stripes";

function made(rows: number[][], more: { min?: number[][]; max?: number[][]; nonfinite?: number[][] } = {}): Stripes {
  const columns = rows[0]!.length;
  const flat = (cells: number[][]): Float32Array => Float32Array.from(cells.flat());
  return {
    tensors: rows.map((_, i) => `t${i}`), layers: rows.map(() => "layer"), approximate: "", columns,
    steps: Array.from({ length: columns + 1 }, (_, i) => i * 10),
    last: flat(rows), min: flat(more.min ?? rows), max: flat(more.max ?? rows),
    nonfinite: flat(more.nonfinite ?? rows.map((row) => row.map(() => 0))),
  };
}

const steady = [1, 1.01, 0.99, 1, 1, 1];

describe("levels of stripes", () => {
  it("a tensor that stays as it is is in the middle, whatever its size", () => {
    const { cells, map } = levelsOf(made([steady, steady.map((value) => value * 1e6)]), "l2", "own");
    expect(map).toBe("diverging");
    for (const cell of cells) expect(Math.abs(cell - 128)).toBeLessThan(12);
  });

  it("a tensor that explodes stands out from those that do not", () => {
    const { cells, legend } = levelsOf(made([steady, [1, 1, 1, 1, 50, 1000]]), "l2", "own");
    expect(cells[11]).toBe(255);
    expect(Math.abs(cells[5]! - 128)).toBeLessThan(12);
    expect(legend.high.kind).toBe("times");
  });

  it("a gradient that dies is at the low end, and so is one that never lived; neither is taken for a calm one", () => {
    const { cells } = levelsOf(made([[1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0], steady]), "l2", "own");
    expect(cells[5]).toBe(0);
    expect(cells[8]).toBe(0);
    expect(Math.abs(cells[14]! - 128)).toBeLessThan(12);
  });

  it("a spike of one step inside a stretch is seen, though the stretch ended as usual", () => {
    const max = [[1, 1, 1, 900, 1, 1]];
    const { cells } = levelsOf(made([steady], { max }), "l2", "own");
    expect(cells[3]).toBeGreaterThan(240);
  });

  it("what is not finite and what is not there are told apart, and no level hides them", () => {
    const { cells } = levelsOf(made([[1, NaN, NaN, 1]], { nonfinite: [[0, 3, NaN, 1]] }), "l2", "own");
    expect([...cells].slice(1)).toEqual([BROKEN, BLANK, BROKEN]);
    expect(levelsOf(made([[0, 0]], { nonfinite: [[0, 2]] }), "nonfinite", "own").cells[1]).toBe(BROKEN);
  });

  it("on one scale a larger tensor has a higher level, and the legend has the numbers", () => {
    const { cells, map, legend } = levelsOf(made([[1, 1], [100, 100]]), "l2", "same");
    expect(map).toBe("ordered");
    expect(cells[2]).toBeGreaterThan(cells[0]!);
    expect([legend.low.value, legend.high.value]).toEqual([1, 100]);
  });

  it("signed numbers on one scale have zero in the middle", () => {
    const { cells, legend } = levelsOf(made([[-5, 0, 5]]), "mean", "same");
    expect([cells[0], cells[1], cells[2]]).toEqual([0, 128, 255]);
    expect(legend.low.value).toBe(-5);
  });

  it("a share is compared by how far it moved from its own median", () => {
    const { cells, legend } = levelsOf(made([[0.1, 0.1, 0.1, 0.9]]), "zeros", "own");
    expect(cells[3]).toBeGreaterThan(200);
    expect(legend.high.kind).toBe("apart");
  });

  it("the median of many values is the one in the middle, whatever their order", () => {
    const values = Float32Array.from({ length: 1001 }, (_, i) => (i * 367) % 1001);
    expect(median(values)).toBe(500);
    expect(median(Float32Array.from([3, NaN, 3, 3, Infinity]))).toBe(3);
  });

  it("no finite value at all is no error", () => {
    const { cells } = levelsOf(made([[NaN, NaN]]), "std", "same");
    expect([...cells]).toEqual([BLANK, BLANK]);
    expect(median(new Float32Array([NaN]))).toBeNaN();
  });
});

describe("how exact an answer is", () => {
  const said = (about: Record<string, string>) => approximateOf({ about: (key) => about[key] ?? null });
  it("is said where steps were joined, and not where every step is there", () => {
    expect(said({ exact: "false", approximate: "Every 64 steps." })).toBe("Every 64 steps.");
    expect(said({ exact: "true", approximate: "Every recorded step." })).toBe("");
    expect(said({})).toBe("");
  });
});

describe("pixels of stripes", () => {
  it("each level takes its colour, blank cells take none", () => {
    const map = Uint32Array.from({ length: 256 }, (_, i) => i + 1);
    const legend = { low: { kind: "none", value: 0 }, middle: { kind: "none", value: 0 }, high: { kind: "none", value: 0 } } as const;
    const cells = Int16Array.from([BLANK, BROKEN, 0, 255]);
    expect([...paint({ cells, map: "ordered", legend }, map, 77)]).toEqual([0, 77, 1, 256]);
  });

  it("a broken row says since when and how much, a healthy one that it is not", () => {
    const rows = brokenRows(made([[1, 1, 1], [1, 1, 1]], { nonfinite: [[0, 4, 9], [0, 0, 0]] }));
    expect(rows).toEqual([{ most: 9, since: 10 }, { most: 0, since: -1 }]);
  });
});
