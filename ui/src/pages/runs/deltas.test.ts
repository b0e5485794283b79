import { expect, it } from "vitest";
import { duration } from "../../lib/format";
import { deltaText } from "./deltas";

it.each([
  [0.75, 0.5, "+0.25"],
  [0.25, 0.5, "−0.25"],
  [3, 3, "±0"],
  [0.1 + 0.2, 0.3, "±0"],
  [null, 3, ""],
  [3, null, ""],
  ["a", 3, ""],
  [true, false, ""],
])("says of %s against %s: %j", (value, base, text) => {
  expect(deltaText(value, base)).toBe(text);
});

it("writes durations as durations", () => {
  expect(deltaText(10, 3610, duration)).toBe("−1 h");
});
