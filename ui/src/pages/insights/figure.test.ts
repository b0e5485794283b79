import { describe, expect, test } from "vitest";
import { amount, differenceOf, placeOn, scaleOf } from "./figure";

describe("a scale", () => {
  test("holds every value with air around it", () => {
    const scale = scaleOf([0.2, 0.4, null, Number.NaN], false);
    expect(scale.min).toBeLessThan(0.2);
    expect(scale.max).toBeGreaterThan(0.4);
  });
  test("begins at zero where that is asked for, unless something lies below", () => {
    expect(scaleOf([0.2, 0.4], true).min).toBe(0);
    expect(scaleOf([-0.2, 0.4], true).min).toBeLessThan(-0.2);
  });
  test("of nothing, and of one value, is no scale of size zero", () => {
    expect(scaleOf([], true)).toEqual({ min: 0, max: 1 });
    const one = scaleOf([0], false);
    expect(one.max).toBeGreaterThan(one.min);
  });
  test("places lie within it", () => {
    expect(placeOn({ min: 0, max: 2 }, 1)).toBe(50);
    expect(placeOn({ min: 0, max: 2 }, 9)).toBe(100);
    expect(placeOn({ min: 0, max: 2 }, -9)).toBe(0);
    expect(placeOn({ min: 1, max: 1 }, 1)).toBe(50);
  });
});

describe("inside against outside", () => {
  test("the interval of the difference is drawn from what is outside", () => {
    const found = differenceOf({ measure: "error", is_share: true, sides: ["these", "elsewhere"], inside: 0.385, outside: 0.056, low: 0.25, high: 0.412 })!;
    expect(found.low).toBeCloseTo(0.306);
    expect(found.high).toBeCloseTo(0.468);
    expect(found.scale.min).toBe(0);
    expect(found.scale.max).toBeGreaterThan(0.468);
    expect(found.words).toBe("error: these 38.5 %, elsewhere 5.6 %. 95 % interval of the difference: 25 points to 41 points.");
  });
  test("without an interval only the two figures", () => {
    const found = differenceOf({ measure: "median metadata.x", is_share: false, sides: ["test", "validation"], inside: 0.0833, outside: 0.0556, low: null, high: null })!;
    expect([found.low, found.high]).toEqual([null, null]);
    expect(found.words).toBe("median metadata.x: test 0.0833, validation 0.0556.");
  });
  test("one figure alone is no difference", () => {
    expect(differenceOf({ measure: "wrong labels", is_share: true, sides: ["these", "elsewhere"], inside: 0.03, outside: null, low: null, high: null })).toBeNull();
  });
  test("shares are percent, losses numbers", () => {
    expect(amount(true, 0.385)).toBe("38.5 %");
    expect(amount(false, 1.23456)).toBe("1.23");
  });
});
