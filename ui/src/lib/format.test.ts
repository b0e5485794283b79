import { describe, expect, it } from "vitest";
import { ago, chance, count, duration, grouped, number, share } from "./format";

describe("number", () => {
  it.each([
    [0, "0"],
    [1234567, "1,234,567"],
    [0.123456, "0.1235"],
    [-0.5, "−0.5"],
    [0.0000123456, "1.235e−5"],
    [12345678.9, "1.235e7"],
    [NaN, "NaN"],
    [Infinity, "∞"],
    [null, "–"],
  ])("writes %s as %s", (value, text) => {
    expect(number(value)).toBe(text);
  });
});

describe("duration", () => {
  it.each([
    [0.0123, "12 ms"],
    [3.21, "3.2 s"],
    [75, "1 min 15 s"],
    [3600, "1 h"],
    [90061, "1 d 1 h"],
    [null, "–"],
  ])("writes %s seconds as %s", (value, text) => {
    expect(duration(value)).toBe(text);
  });
});

it("says how long ago", () => {
  expect(ago(1000, 1001)).toBe("now");
  expect(ago(1000, 1000 + 7200)).toBe("2 h ago");
});
it("counts in words", () => {
  expect(count(1, "run")).toBe("1 run");
  expect(count(1200, "run")).toBe("1,200 runs");
});
it("groups and shares", () => {
  expect(grouped(-1000)).toBe("−1,000");
  expect(share(0.1234)).toBe("12.3 %");
});
it("never says that something has no chance at all", () => {
  expect([0, 0.0004, 0.04, 1, null].map(chance)).toEqual(["< 0.001", "< 0.001", "0.04", "1", "–"]);
});
