import { describe, expect, it } from "vitest";
import { shortened, withoutOverlaps } from "./labels";

const size = { width: 300, height: 200 };
const width = (text: string): number => 7 * text.length;

describe("withoutOverlaps", () => {
  it("gives the first the place, and leaves out who comes too near", () => {
    const wanted = [{ text: "zero", left: 100, top: 100 }, { text: "one", left: 105, top: 104 }, { text: "two", left: 100, top: 130 }];
    expect(withoutOverlaps(wanted, size, 15, width).map(({ text }) => text)).toEqual(["zero", "two"]);
  });
  it("writes nothing that would be cut off, and nothing empty", () => {
    const wanted = [{ text: "edge", left: 5, top: 100 }, { text: "", left: 100, top: 100 }, { text: "out", left: 100, top: 900 }, { text: "nowhere", left: NaN, top: 5 }];
    expect(withoutOverlaps(wanted, size, 15, width)).toEqual([]);
  });
});

describe("shortened", () => {
  it("leaves short names, and cuts long ones", () => {
    expect(shortened("digit 4")).toBe("digit 4");
    expect(shortened("x".repeat(10_000))).toHaveLength(28);
    expect(shortened(" two\n lines ")).toBe("two lines");
  });
  it("does not break letters of two halves", () => {
    const cut = shortened("😀".repeat(40));
    expect(Array.from(cut)).toHaveLength(28);
    expect(cut).toMatch(/^😀+…😀+$/u);
  });
});
