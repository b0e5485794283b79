import { describe, expect, it } from "vitest";
import { fuzzyScore, ranked } from "./fuzzy";

const best = (typed: string, names: string[]): string[] => ranked(names, typed, (name) => name, 9);

describe("ranked", () => {
  it("puts what was typed as it is first", () => {
    expect(best("conv", ["c.o.n.v", "layer.conv1", "conv"])).toEqual(["conv", "layer.conv1", "c.o.n.v"]);
  });
  it("puts the beginning of a word before its middle", () => {
    expect(best("runs", ["Overruns", "Go to the runs"])).toEqual(["Go to the runs", "Overruns"]);
  });
  it("finds letters in their order, beginnings of words first", () => {
    expect(best("gr", ["bigger", "Go to Runs"])[0]).toBe("Go to Runs");
    expect(best("l1w", ["layer1.weight", "layer1.bias"])).toEqual(["layer1.weight"]);
  });
  it("leaves the order where nothing was typed", () => {
    expect(best("", ["b", "a"])).toEqual(["b", "a"]);
  });
  it("returns so many at most", () => {
    expect(ranked(["a1", "a2", "a3"], "a", (name) => name, 2)).toEqual(["a1", "a2"]);
  });
});

it("does not answer to letters that are not there", () => {
  expect(fuzzyScore("xyz", "layer")).toBeNull();
});
it("does not care about case or gaps", () => {
  expect(fuzzyScore("DARK mode", "dark mode")).toBeGreaterThan(1000);
});
