import { describe, expect, it } from "vitest";
import { bytesOf, decoded, extremes } from "./arrays";

const base64 = (array: ArrayBufferView): string => btoa(String.fromCharCode(...new Uint8Array(array.buffer)));

describe("arrays", () => {
  it("are read by their dtype", () => {
    expect(Array.from(decoded({ dtype: "uint8", shape: [2], data: "AQI=" }).values)).toEqual([1, 2]);
    expect(Array.from(decoded({ dtype: "float32", shape: [1, 2], data: base64(new Float32Array([0.5, NaN])) }).values)).toEqual([0.5, NaN]);
    expect(Array.from(decoded({ dtype: "int16", shape: [2], data: base64(new Int16Array([-3, 9])) }).values)).toEqual([-3, 9]);
    expect(Array.from(decoded({ dtype: "int64", shape: [2], data: base64(new BigInt64Array([-1n, 7n])) }).values)).toEqual([-1, 7]);
    expect(Array.from(decoded({ dtype: "bool", shape: [2], data: "AAE=" }).values)).toEqual([0, 1]);
  });

  it("of half precision are read without help of the browser", () => {
    const bits = new Uint16Array([0x3c00, 0xc000, 0x7c00, 0x0001, 0x7e00, 0]);
    const found = Array.from(decoded({ dtype: "float16", shape: [6], data: base64(bits) }).values);
    expect(found).toEqual([1, -2, Infinity, 2 ** -24, NaN, 0]);
  });

  it("that are not what they say have no values", () => {
    expect(decoded({ dtype: "complex64", shape: [1], data: "AQI=" }).values).toHaveLength(0);
    expect(decoded({ dtype: "uint8", shape: [3], data: "AQI=" }).shape).toEqual([0]);
  });

  it("of no rank hold one value", () => {
    expect(Array.from(decoded({ dtype: "uint8", shape: [], data: "Bw==" }).values)).toEqual([7]);
  });
});

describe("bytesOf", () => {
  it("reads base64", () => expect(Array.from(bytesOf("//8="))).toEqual([255, 255]));
});

describe("extremes", () => {
  it("leave out what is not finite", () => {
    expect(extremes([NaN, 3, -Infinity, -1])).toEqual({ min: -1, max: 3 });
    expect(extremes([NaN])).toBeNull();
  });
});
