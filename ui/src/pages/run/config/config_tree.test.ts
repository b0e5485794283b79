import { describe, expect, it } from "vitest";
import { leaves, matching, nodesOf } from "./config_tree";

const config = { model: "Net", optimizer: { class: "SGD", groups: [{ lr: 0.02, fused: null }] }, sizes: [1, 2, 3], empty: {}, amp: false };

describe("nodesOf", () => {
  const nodes = nodesOf(config);
  it("has values as text and parts with what is in them", () => {
    expect(nodes.map(({ key, value, kind }) => [key, value, kind])).toEqual([
      ["model", "Net", "text"],
      ["optimizer", null, "part"],
      ["sizes", "[1, 2, 3]", "text"],
      ["empty", "{}", "none"],
      ["amp", "false", "flag"],
    ]);
  });
  it("names every value in the whole", () => {
    expect(nodes[1]!.children[1]!.children[0]!.children.map(({ path, value }) => [path, value])).toEqual([
      ["optimizer.groups[0].lr", "0.02"],
      ["optimizer.groups[0].fused", "null"],
    ]);
  });
  it("counts values", () => {
    expect(leaves(nodes)).toBe(7);
  });
});

describe("matching", () => {
  const nodes = nodesOf(config);
  it("keeps the way to what was found, and nothing else", () => {
    const found = matching(nodes, "LR");
    expect(leaves(found)).toBe(1);
    expect(found[0]!.key).toBe("optimizer");
  });
  it("looks into values too", () => {
    expect(matching(nodes, "sgd")[0]!.children.map(({ key }) => key)).toEqual(["class"]);
  });
  it("keeps all of a part that is named", () => {
    expect(leaves(matching(nodes, "optimizer"))).toBe(3);
  });
  it("is everything without words and nothing without a match", () => {
    expect(matching(nodes, " ")).toEqual(nodes);
    expect(matching(nodes, "moon")).toEqual([]);
  });
});
