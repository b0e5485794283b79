import { describe, expect, it } from "vitest";
import { between, paintPixels, pixelPalette, type PixelColumns, type PixelFrame } from "./pixels";
import { DIMMED, HIDDEN, MARKED, SHOWN } from "./types";

const WIDTH = 10, HEIGHT = 6;
const shown = pixelPalette(["#ff0000", "#0000ff"], [255, 255, 255], 0), dimmed = pixelPalette(["#ff0000", "#0000ff"], [255, 255, 255], 0.8);
const [RED, BLUE] = shown as unknown as [number, number];

function painted(places: [number, number][], columns: Partial<PixelColumns> = {}, frame: Partial<PixelFrame> = {}): number[][] {
  const pixels = new Uint32Array(WIDTH * HEIGHT).fill(99);
  const points = { x: Float32Array.from(places, ([x]) => x), y: Float32Array.from(places, ([, y]) => y) };
  paintPixels(
    pixels,
    { points, codes: new Uint16Array(places.length), triangles: null, sizes: null, flags: null, ...columns },
    { view: { x: 0, y: 0, scale: 1 }, size: { width: WIDTH, height: HEIGHT }, ratio: 1, count: places.length, smallest: 1, range: 0, upwards: false, shown, dimmed, ...frame },
  );
  return Array.from({ length: HEIGHT }, (_, row) => [...pixels.subarray(row * WIDTH, (row + 1) * WIDTH)]);
}

function filled(rows: number[][]): string[] {
  return rows.flatMap((row, y) => row.flatMap((pixel, x) => (pixel ? [`${x},${y}`] : [])));
}

describe("paintPixels", () => {
  it("puts a point where the map has it, with y upwards", () => {
    expect(filled(painted([[0.5, 0.5]]))).toEqual(["5,2"]);
    expect(filled(painted([[0.5, 0.5]], {}, { upwards: true }))).toEqual(["5,3"]);
    expect(filled(painted([[-4.5, 2.5]]))).toEqual(["0,0"]);
  });
  it("follows the view and the pixels of the screen", () => {
    expect(filled(painted([[0.5, 0.5]], {}, { view: { x: 0.5, y: 0.5, scale: 1 }, ratio: 1 }))).toHaveLength(1);
    expect(filled(painted([[1, 0]], {}, { view: { x: 0, y: 0, scale: 1.25 }, ratio: 2 }))).toEqual(filled(painted([[2.5, 0]])));
  });
  it("draws triangles with their point upwards, whichever way the rows go", () => {
    const triangles = [true, false];
    const widths = (upwards: boolean): number[] => painted([[0, 0]], { triangles }, { smallest: 4, upwards }).map((row) => row.filter(Boolean).length);
    const [down, up] = [widths(false), widths(true)];
    expect(down.filter((wide) => wide > 0)).toEqual([...down.filter((wide) => wide > 0)].sort((a, b) => a - b));
    expect(Math.max(...down)).toBeGreaterThan(Math.min(...down.filter((wide) => wide > 0)));
    expect(up).toEqual([...down].reverse());
    const covered = down.reduce((sum, wide) => sum + wide, 0), disc = filled(painted([[0, 0]], {}, { smallest: 4 })).length;
    expect(Math.abs(covered - disc)).toBeLessThanOrEqual(4);
  });
  it("draws squares of a point's size, cut at the edge", () => {
    expect(filled(painted([[0.5, 0.5]], {}, { smallest: 3 }))).toHaveLength(9);
    expect(filled(painted([[-4.5, 2.5]], {}, { smallest: 3 }))).toEqual(["0,0", "1,0", "0,1", "1,1"]);
    const sizes = Uint8Array.of(255, 0);
    expect(filled(painted([[0.5, 0.5], [-3.5, 0.5]], { sizes }, { range: 2 }))).toHaveLength(10);
  });
  it("draws larger points as discs", () => {
    const rows = painted([[0, 0]], {}, { smallest: 6 });
    expect(rows.map((row) => row.filter(Boolean).length)).toEqual([4, 6, 6, 6, 6, 4]);
  });
  it("has large points above small ones, whatever their order", () => {
    const places: [number, number][] = [[0.5, 0.5], [0.5, 0.5]];
    const columns = { codes: Uint16Array.of(0, 1), sizes: Uint8Array.of(0, 255) };
    expect(painted(places, columns, { range: 2 })[2]![5]).toBe(BLUE);
  });
  it("leaves out what is outside or nowhere", () => {
    expect(filled(painted([[50, 0], [NaN, 0], [0, NaN], [0, -3.5], [1e20, 1e20]]))).toEqual([]);
  });
  it("draws no more than it is told to", () => {
    expect(filled(painted([[0.5, 0.5], [2.5, 0.5]], {}, { count: 1 }))).toEqual(["5,2"]);
  });
  it("keeps what came first, and has what is shown above what is dimmed", () => {
    const places: [number, number][] = [[0.5, 0.5], [0.5, 0.5]];
    const codes = Uint16Array.of(0, 1);
    expect(painted(places, { codes })[2]![5]).toBe(RED);
    expect(painted(places, { codes, flags: Uint8Array.of(DIMMED, SHOWN) })[2]![5]).toBe(BLUE);
    expect(painted(places, { codes, flags: Uint8Array.of(DIMMED, DIMMED) })[2]![5]).toBe(dimmed[0]);
    expect(painted(places, { codes, flags: Uint8Array.of(HIDDEN, MARKED) })[2]![5]).toBe(0);
  });
});

describe("pixelPalette", () => {
  it("has red in the lowest byte, and is never empty", () => {
    expect([...pixelPalette(["#ff0000", "#000000"], [255, 255, 255], 0)]).toEqual([0xff0000ff, 0xff000000]);
    expect([...pixelPalette(["#000000"], [255, 255, 255], 0.8)]).toEqual([0xffcccccc]);
  });
});

describe("between", () => {
  it("is on the way, for the first points", () => {
    const from = { x: Float32Array.of(0, 0), y: Float32Array.of(0, 0) }, to = { x: Float32Array.of(4, 4), y: Float32Array.of(8, 8) };
    expect(between(from, to, 0.25, 1)).toEqual({ x: Float32Array.of(1), y: Float32Array.of(2) });
  });
});
