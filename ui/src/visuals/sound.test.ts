import { describe, expect, it } from "vitest";
import { waveform } from "./sound";

describe("waveform", () => {
  it("goes as far up and down as the loudest value", () => expect(waveform({ values: [1, -1, 0, 0], shape: [4] }, 2, 10)).toBe("M0.5 1V9M1.5 5V5.6"));
  it("takes both channels together", () => expect(waveform({ values: [1, -1], shape: [1, 2] }, 1, 10)).toBe("M0.5 1V9"));
  it("of silence is a line, of nothing nothing", () => {
    expect(waveform({ values: [0], shape: [1] }, 1, 10)).toBe("M0.5 5V5.6");
    expect(waveform({ values: [], shape: [0] }, 5, 10)).toBe("");
  });
});
