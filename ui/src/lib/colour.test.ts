import { describe, expect, it } from "vitest";
import { colours, gradient, lightness, NONFINITE, pixelOf, pixels, rgbOf, STEPS, type Rgb } from "./colour";

const themes = ["light", "dark"] as const;

function distance(a: Rgb, b: Rgb): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

describe("colour maps", () => {
  it.each(themes)("an ordered map goes one way in lightness in the %s theme, so that grey eyes read it too", (theme) => {
    const light = colours("ordered", theme).map(lightness);
    const sign = Math.sign(light.at(-1)! - light[0]!);
    for (let i = 8; i < light.length; i += 8) expect(Math.sign(light[i]! - light[i - 8]!)).toBe(sign);
  });

  it.each(themes)("a diverging map leaves its middle in both directions in the %s theme", (theme) => {
    const light = colours("diverging", theme).map(lightness);
    const middle = light[STEPS / 2]!;
    const away = theme === "light" ? -1 : 1;
    expect(Math.sign(light[0]! - middle)).toBe(away);
    expect(Math.sign(light.at(-1)! - middle)).toBe(away);
  });

  it.each(themes)("no map comes near the colour of what is not finite in the %s theme", (theme) => {
    const reserved = rgbOf(NONFINITE[theme]);
    for (const kind of ["ordered", "diverging"] as const) {
      for (const one of colours(kind, theme)) expect(distance(one, reserved)).toBeGreaterThan(60);
    }
  });

  it("the ends of a map are its first and last stop", () => {
    const all = colours("ordered", "light");
    expect(all).toHaveLength(STEPS);
    expect(distance(all[0]!, rgbOf("#e9eff3"))).toBeLessThan(2);
    expect(distance(all.at(-1)!, rgbOf("#1f2f6e"))).toBeLessThan(2);
  });

  it("a pixel is opaque and holds red in its lowest byte", () => {
    expect(pixelOf([1, 2, 3])).toBe(0xff030201);
    expect(pixels("ordered", "dark")).toHaveLength(STEPS);
    expect(gradient("diverging", "dark")).toMatch(/^linear-gradient\(to right, rgb\(/);
  });
});
