import { expect, it } from "vitest";
import { readTags } from "./tags";

it.each([
  ["a, b ,a", ["a", "b"]],
  ["", []],
  [" , ,", []],
  ["two words, ü", ["two words", "ü"]],
])("reads the tags of %j", (text, tags) => {
  expect(readTags(text)).toEqual(tags);
});
