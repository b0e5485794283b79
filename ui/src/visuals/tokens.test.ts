import { describe, expect, it } from "vitest";
import { shownTokens, stretchesOf, strongest } from "./tokens";

describe("tokens", () => {
  const tokens = shownTokens(["the", "", "cat", "sat", ""]);
  it("leave out padding and keep their places", () => expect(tokens.map((one) => [one.text, one.at])).toEqual([["the", 0], ["cat", 2], ["sat", 3]]));
  it("of one label are one stretch", () => {
    expect(stretchesOf(tokens, [0, 9, 1, 1, 0]).map((one) => [one.label, one.tokens.length])).toEqual([[0, 1], [1, 2]]);
  });
  it("are ranked by how strong they are, for or against", () => {
    expect(strongest(tokens, [0.1, 9, -0.8, 0.3, 0], 2).map((one) => one.text)).toEqual(["cat", "sat"]);
  });
});
