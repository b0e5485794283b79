import { describe, expect, it } from "vitest";
import { marked } from "./marked";

describe("a text with backticks", () => {
  it("code is told from text", () => {
    expect(marked("above `limit` or")).toEqual([{ text: "above ", code: false }, { text: "limit", code: true }, { text: " or", code: false }]);
  });
  it("a lonely backtick changes nothing", () => {
    expect(marked("it`s")).toEqual([{ text: "it`s", code: false }]);
  });
});
