import { describe, expect, it } from "vitest";
import { heatAlpha, heatColour, heatGradient, heatLine, heatPixels, heatScale, heatTint, sharedScale, strength } from "./heat";

describe("heatScale", () => {
  it("reaches as far on both sides where a map is signed", () => {
    expect(heatScale([-3, 1, NaN], true)).toEqual({ min: -3, max: 1, bound: 3, signed: true });
    expect(heatScale([0, 2], false)).toEqual({ min: 0, max: 2, bound: 2, signed: false });
  });

  it("takes a map with values below 0 as signed, whatever is said of it", () => {
    expect(heatScale([-1, 4], false)).toMatchObject({ bound: 4, signed: true });
  });

  it("of a map of zeros has no strength anywhere", () => {
    const scale = heatScale([0, 0], false);
    expect(strength(0, scale)).toBe(0);
    expect(heatAlpha(0, scale)).toBe(0);
  });

  it("is shared by maps beside each other", () => {
    expect(sharedScale([heatScale([0, 1], false), heatScale([0, 5], false)])).toEqual({ min: 0, max: 5, bound: 5, signed: false });
    expect(sharedScale([heatScale([0, 0], false), heatScale([0, 0.1], false)]).bound).toBe(0.1);
  });
});

describe("colours", () => {
  const signed = heatScale([-2, 2], true);
  it("tell for from against", () => expect(heatColour(1, signed)).not.toEqual(heatColour(-1, signed)));
  it("are clear where the map says nothing, and not where it is strongest", () => {
    const found = heatPixels([0, 2, -2, NaN], 2, 2, signed).bytes;
    expect([found[3], found[7], found[11], found[15]]).toEqual([0, 255, 255, 0]);
  });
  it("of a map that does not fit are none", () => expect(heatPixels([1], 2, 2, signed).width).toBe(0));
  it("of a legend go through the middle", () => {
    expect(heatGradient(signed)).toContain("/ 0%");
    expect(heatGradient(signed, true)).toContain(heatTint(2, signed));
  });
  it("are tints that text can be read upon, with a line beside them", () => {
    expect(heatTint(2, signed)).toMatch(/\/ 42%\)$/);
    expect([heatLine(0, signed), heatLine(-1, signed), heatLine(2, signed)]).toEqual([0, 2, 4]);
  });
});
