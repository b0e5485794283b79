// Arrays as visualizers send them: a dtype, a shape, and little-endian bytes in C order as base64. Knows no DOM.

export interface ArrayData {
  dtype: string;
  shape: number[];
  data: string;
}

/** Values in C order. Whole numbers of 64 bits are numbers here: what visualizers count is small. */
export interface Values {
  values: ArrayLike<number>;
  shape: readonly number[];
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

type Reader = (buffer: ArrayBuffer) => ArrayLike<number>;

const READERS: Record<string, Reader> = {
  bool: (buffer) => new Uint8Array(buffer),
  uint8: (buffer) => new Uint8Array(buffer),
  int8: (buffer) => new Int8Array(buffer),
  uint16: (buffer) => new Uint16Array(buffer),
  int16: (buffer) => new Int16Array(buffer),
  uint32: (buffer) => new Uint32Array(buffer),
  int32: (buffer) => new Int32Array(buffer),
  int64: (buffer) => Float64Array.from(new BigInt64Array(buffer), Number),
  uint64: (buffer) => Float64Array.from(new BigUint64Array(buffer), Number),
  float16: (buffer) => Float32Array.from(new Uint16Array(buffer), halfOf),
  float32: (buffer) => new Float32Array(buffer),
  float64: (buffer) => new Float64Array(buffer),
};

/** The values of an array. One that is not what it says (a strange dtype, bytes that do not fit its shape) has none. */
export function decoded(array: ArrayData): Values {
  const read = READERS[array.dtype];
  if (!read) return { values: [], shape: [0] };
  const values = read(bytesOf(array.data).buffer);
  const wanted = array.shape.reduce((all, one) => all * one, 1);
  return values.length === wanted ? { values, shape: array.shape } : { values: [], shape: [0] };
}

/** The smallest and largest of the values that are finite; null where there is none. */
export function extremes(values: ArrayLike<number>): { min: number; max: number } | null {
  let min = Infinity;
  let max = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return min <= max ? { min, max } : null;
}

function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
