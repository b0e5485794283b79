import { describe, expect, it } from "vitest";
import { imagePixels, imageWords, shownSize } from "./pixels";

describe("imagePixels", () => {
  it("shows one channel in grey and cuts off what is beyond black and white", () => {
    const found = imagePixels({ values: [0, 0.5, 1, 2], shape: [2, 2, 1] }, [0, 1]);
    expect([found.width, found.height]).toEqual([2, 2]);
    expect(Array.from(found.bytes)).toEqual([0, 0, 0, 255, 128, 128, 128, 255, 255, 255, 255, 255, 255, 255, 255, 255]);
  });

  it("shows three channels as colours, a fourth as alpha, and of seven the first three", () => {
    expect(Array.from(imagePixels({ values: [1, 0, -1], shape: [1, 1, 3] }, [-1, 1]).bytes)).toEqual([255, 128, 0, 255]);
    expect(Array.from(imagePixels({ values: [255, 0, 9, 100], shape: [1, 1, 4] }, [0, 255]).bytes)).toEqual([255, 0, 9, 100]);
    expect(Array.from(imagePixels({ values: [1, 2, 3, 4, 5, 6, 7], shape: [1, 1, 7] }, [0, 255]).bytes)).toEqual([1, 2, 3, 255]);
  });

  it("takes a frame of a video", () => {
    const video = { values: [0, 10, 20, 30], shape: [2, 1, 2, 1] };
    expect(Array.from(imagePixels(video, [0, 255], 1).bytes)).toEqual([20, 20, 20, 255, 30, 30, 30, 255]);
  });

  it("shows what is not a number in a colour of its own, and an image of nothing not at all", () => {
    expect(Array.from(imagePixels({ values: [NaN], shape: [1, 1] }, [0, 1]).bytes)).toEqual([255, 0, 255, 255]);
    expect(imagePixels({ values: [], shape: [0] }, [0, 1]).width).toBe(0);
    expect(imagePixels({ values: [4], shape: [1, 1] }, [4, 4]).bytes).toHaveLength(4);
  });
});

describe("shownSize", () => {
  it("makes small images larger by a whole factor and large ones smaller", () => {
    expect(shownSize(8, 8, 300)).toEqual({ width: 296, height: 296 });
    expect(shownSize(28, 14, 300)).toEqual({ width: 280, height: 140 });
    expect(shownSize(600, 300, 300)).toEqual({ width: 300, height: 150 });
    expect(shownSize(10_000, 1, 300)).toEqual({ width: 300, height: 1 });
  });
});

describe("imageWords", () => {
  it("say what is there", () => expect(imageWords("large", 64, 32, 1)).toBe("large: an image of 64 by 32 pixels in grey"));
});
