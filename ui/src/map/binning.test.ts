import { describe, expect, it } from "vitest";
import { binned, binText, conditionOf, MISSING, rounded } from "./binning";
import { holds, printCondition } from "./conditions";
import { countsOf } from "./counting";

const numbers = (values: ArrayLike<number>) => ({ kind: "number", name: "x", values: Float32Array.from(values) }) as const;

describe("bins", () => {
  it("are even for plain numbers, both ends included", () => {
    const found = binned(numbers(Array.from({ length: 1001 }, (_, i) => i / 1000)));
    expect(found.scale).toBe("even");
    const counts = countsOf(found, null);
    expect(counts.reduce((a, b) => a + b)).toBe(1001);
    expect(counts.at(-1)).toBeGreaterThan(0);
  });

  it("are of equal ratio where values span many sizes, and nothing is lost below", () => {
    const found = binned(numbers(Array.from({ length: 1000 }, (_, i) => (i === 0 ? 0 : 10 ** (-6 + (i * 7) / 1000)))));
    expect(found.scale).toBe("ratio");
    expect(found.edges[0]).toBe(0);
    expect(countsOf(found, null).reduce((a, b) => a + b)).toBe(1000);
    expect(Math.max(...countsOf(found, null))).toBeLessThan(60);
  });

  it("are one for each value where there are few whole ones", () => {
    const found = binned(numbers([3, 1, 3, NaN]));
    expect(found.names).toEqual(["1", "3"]);
    expect([...found.of]).toEqual([1, 0, 1, MISSING]);
  });

  it("are one for each name, as people sort them; of very many the most frequent and all others", () => {
    expect(binned({ kind: "category", name: "n", codes: Int32Array.of(0, 1, -1), names: ["10", "9"] }).names).toEqual(["9", "10"]);
    const many = binned({ kind: "text", name: "n", codes: Int32Array.from({ length: 300 }, (_, i) => (i < 200 ? 7 : i)), names: Array.from({ length: 300 }, (_, i) => `name ${i}`) });
    expect(many.bins).toBe(60);
    expect(many.names[0]).toBe("name 7");
    expect(many.others).toBe(241);
    expect(conditionOf(many, 59, 59)).toBeNull();
    expect(conditionOf(many, 58, 59)!.values).toHaveLength(1);
  });

  it("stand where nothing has a value", () => {
    const found = binned(numbers([NaN, NaN]));
    expect([...countsOf(found, null)].every((one) => one === 0)).toBe(true);
    expect(binned(numbers([2.5, 2.5])).bins).toBe(10);
  });

  it("become conditions that hold for every sample of the bin", () => {
    const column = numbers(Array.from({ length: 5000 }, (_, i) => Math.sin(i) * 123.456789));
    const found = binned(column);
    for (const bin of [0, 13, 39]) {
      const { operator, values } = conditionOf(found, bin, bin)!;
      const mask = holds(column, { column: "x", operator, values });
      expect([...found.of.entries()].every(([i, of]) => of !== bin || mask[i] === 1)).toBe(true);
    }
    expect(printCondition({ column: "x", ...conditionOf(binned(numbers([1, 2, 3])), 2, 0)! })).toBe("x between 1 3");
  });

  it("have words", () => {
    expect(binText(binned(numbers([1, 3])), 1, String)).toBe("3");
    expect(binText(binned(numbers([0, 0.5, 40.5])), 0, (value) => rounded(value, 3))).toBe("0 to 4.05");
  });
});
