import { describe, expect, it } from "vitest";
import type { LayerRow } from "../../../api/schema";
import { nextSort, ratioShare, shownLayers, sortOf } from "./layer_list";

function layer(name: string, parent: string | null, changes: Partial<LayerRow> = {}): LayerRow {
  return { name, parent, depth: name.split(".").length - 1, parameters: 1, tensors: [`${name}.weight`], weight: 1, gradient: 1, update_ratio: 1e-3, zeros: null, nonfinite: 0, findings: 0, severity: null, ...changes };
}
const layers = [
  layer("stem", null, { weight: 3 }),
  layer("block", null, { tensors: [], weight: 9 }),
  layer("block.0", "block", { tensors: [], weight: 8 }),
  layer("block.0.conv", "block.0", { weight: 2, severity: "error", findings: 2 }),
  layer("block.0.norm", "block.0", { weight: null }),
  layer("head", null, { weight: 5, severity: "warning" }),
];
const usual = { sort: "", search: "", closed: new Set<string>() };
const titles = (choice: Partial<typeof usual>) => shownLayers(layers, { ...usual, ...choice }).map(({ title }) => title);

describe("the tree", () => {
  it("has every layer under its part, by the last part of its name", () => {
    expect(titles({})).toEqual(["stem", "block", "0", "conv", "norm", "head"]);
    expect(shownLayers(layers, usual).map(({ depth, parts }) => [depth, parts])).toEqual([[0, 0], [0, 1], [1, 2], [2, 0], [2, 0], [0, 0]]);
  });
  it("hides what lies in a closed part, however deep", () => {
    expect(titles({ closed: new Set(["block"]) })).toEqual(["stem", "block", "head"]);
    expect(titles({ closed: new Set(["block.0"]) })).toEqual(["stem", "block", "0", "head"]);
  });
});

describe("the flat list", () => {
  it("sorts layers that have tensors, what is not known last", () => {
    expect(titles({ sort: "-weight" })).toEqual(["head", "stem", "block.0.conv", "block.0.norm"]);
    expect(titles({ sort: "weight" })).toEqual(["block.0.conv", "stem", "head", "block.0.norm"]);
    expect(titles({ sort: "-health" }).slice(0, 2)).toEqual(["block.0.conv", "head"]);
  });
  it("finds by words of the whole name", () => {
    expect(titles({ search: "block CONV" })).toEqual(["block.0.conv"]);
    expect(titles({ search: "nothing" })).toEqual([]);
  });
});

it("goes from largest to smallest to the model's order", () => {
  expect(nextSort("", "weight")).toBe("-weight");
  expect(nextSort("-weight", "weight")).toBe("weight");
  expect(nextSort("weight", "weight")).toBe("");
  expect(nextSort("-weight", "name")).toBe("name");
});
it("takes no column that there is not", () => {
  expect(sortOf("-moon")).toEqual({ key: "model", down: false });
});
it("places a ratio by its logarithm", () => {
  expect(ratioShare(1e-3)).toBeCloseTo(0.5);
  expect([ratioShare(0), ratioShare(5), ratioShare(null), ratioShare(1e-9)]).toEqual([0, 1, null, 0]);
});
