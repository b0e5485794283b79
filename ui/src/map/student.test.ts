import { describe, expect, it } from "vitest";
import { student95 } from "./student";

describe("the 97.5 % point of Student's distribution", () => {
  it.each([[1, 12.7062], [2, 4.3027], [10, 2.2281], [11, 2.201], [20, 2.086], [60, 2.0003], [1000, 1.9623], [1e6, 1.96]])("is known for %d degrees of freedom", (freedom, value) => {
    expect(student95(freedom)).toBeCloseTo(value, 4);
  });

  it("falls with the degrees of freedom, also where table and expansion meet", () => {
    const values = Array.from({ length: 40 }, (_, i) => student95(i + 1));
    expect(values).toEqual(values.toSorted((a, b) => b - a));
  });

  it("has no value without a degree of freedom", () => {
    expect(student95(0)).toBeNaN();
    expect(student95(-1)).toBeNaN();
  });
});
