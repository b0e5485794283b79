// Counting what is selected: loops over typed arrays, one look at each point that counts. `chosen` are the points of the
// selection, or null for all.

import type { Binned } from "./binning";
import { student95 } from "./student";

export type Chosen = Uint32Array | null;
type Numbers = Float32Array | Float64Array;

/** What all masks hold for; null where there are none. */
export function together(masks: readonly Uint8Array[]): Uint8Array | null {
  const [first, ...rest] = masks;
  if (!first) return null;
  if (rest.length === 0) return first;
  const found = first.slice();
  for (const mask of rest) for (let i = 0; i < found.length; i++) found[i] = found[i]! & mask[i]!;
  return found;
}

export function chosenOf(mask: Uint8Array | null): Chosen {
  if (mask === null) return null;
  let count = 0;
  for (let i = 0; i < mask.length; i++) count += mask[i]!;
  // Written without a branch, which would be guessed wrong half of the time; the last place is written over and left out.
  const found = new Uint32Array(count + 1);
  for (let i = 0, next = 0; i < mask.length; i++) {
    found[next] = i;
    next += mask[i]!;
  }
  return found.subarray(0, count);
}

/** How many of the selection lie in each bin. */
export function countsOf({ of, bins }: Binned, chosen: Chosen): Uint32Array {
  const all = new Uint32Array(256);
  if (chosen === null) for (let i = 0; i < of.length; i++) all[of[i]!]!++;
  else for (let i = 0; i < chosen.length; i++) all[of[chosen[i]!]!]!++;
  return all.slice(0, bins);
}

export function codeCounts(codes: Int32Array, names: number, chosen: Chosen): Uint32Array {
  // One place before the first, for what is missing.
  const all = new Uint32Array(names + 1);
  if (chosen === null) for (let i = 0; i < codes.length; i++) all[codes[i]! + 1]!++;
  else for (let i = 0; i < chosen.length; i++) all[codes[chosen[i]!]! + 1]!++;
  return all.subarray(1);
}

export interface BinMean {
  count: number;
  mean: number;
  /** Half the width of the interval that holds the mean in 95 of 100 cases; NaN for fewer than two samples. */
  half: number;
}

/** The mean of `values` in each bin. What is not finite counts for nothing. */
export function meansOf({ of, bins }: Binned, values: Numbers, chosen: Chosen): BinMean[] {
  const [count, sum, squares] = [new Float64Array(256), new Float64Array(256), new Float64Array(256)];
  const total = chosen === null ? of.length : chosen.length;
  for (let j = 0; j < total; j++) {
    const i = chosen === null ? j : chosen[j]!;
    const value = values[i]!;
    if (value - value !== 0) continue;
    const bin = of[i]!;
    count[bin]!++;
    sum[bin]! += value;
    squares[bin]! += value * value;
  }
  return Array.from({ length: bins }, (_, bin) => {
    const n = count[bin]!;
    const mean = sum[bin]! / n;
    const spread = n > 1 ? Math.max(0, (squares[bin]! - n * mean * mean) / (n - 1)) : NaN;
    return { count: n, mean, half: student95(n - 1) * Math.sqrt(spread / n) };
  });
}

/** The mean over the selection; NaN where there is nothing. */
export function meanOf(values: Numbers, chosen: Chosen): number {
  let [count, sum] = [0, 0];
  const total = chosen === null ? values.length : chosen.length;
  for (let j = 0; j < total; j++) {
    const value = values[chosen === null ? j : chosen[j]!]!;
    if (value - value !== 0) continue;
    count++;
    sum += value;
  }
  return sum / count;
}

/** The first `most` points of the selection by their keys, without sorting the rest. What has no key comes last. */
export function firstOf(keys: Numbers, chosen: Chosen, most: number, descending: boolean): Uint32Array {
  const total = chosen === null ? keys.length : chosen.length;
  if (total <= most * 4) return orderOf(keys, chosen, descending).slice(0, most);
  const sign = descending ? 1 : -1;
  // A heap whose top is the least of the best so far.
  const heap = new Uint32Array(most);
  const value = new Float64Array(most);
  let size = 0;
  for (let j = 0; j < total; j++) {
    const i = chosen === null ? j : chosen[j]!;
    const key = sign * keys[i]!;
    if (size === most ? !(key > value[0]!) : key !== key) continue;
    let at: number;
    if (size < most) {
      at = size++;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        if (value[parent]! <= key) break;
        value[at] = value[parent]!;
        heap[at] = heap[parent]!;
        at = parent;
      }
    } else {
      at = 0;
      for (;;) {
        let child = 2 * at + 1;
        if (child >= most) break;
        if (child + 1 < most && value[child + 1]! < value[child]!) child++;
        if (value[child]! >= key) break;
        value[at] = value[child]!;
        heap[at] = heap[child]!;
        at = child;
      }
    }
    value[at] = key;
    heap[at] = i;
  }
  // Few keys, many points without one: those fill up the rest.
  return size < most ? orderOf(keys, chosen, descending).slice(0, most) : orderOf(keys, heap.sort(), descending);
}

/** The points of the selection in the order of their keys; equal ones as the points come, what has no key last. */
export function orderOf(keys: Numbers, chosen: Chosen, descending: boolean): Uint32Array {
  const total = chosen === null ? keys.length : chosen.length;
  let from: Uint32Array = new Uint32Array(total);
  let to: Uint32Array = new Uint32Array(total);
  for (let i = 0; i < total; i++) from[i] = i;
  // By the lesser half of their bits first: what is equal in the greater half stays in that order.
  for (const word of sortable(keys, chosen, total, descending)) {
    for (const shift of [0, 16]) {
      const starts = new Uint32Array(65537);
      for (let i = 0; i < total; i++) starts[((word[i]! >>> shift) & 0xffff) + 1]!++;
      for (let i = 0; i < 65536; i++) starts[i + 1]! += starts[i]!;
      for (let i = 0; i < total; i++) to[starts[(word[from[i]!]! >>> shift) & 0xffff]!++] = from[i]!;
      [from, to] = [to, from];
    }
  }
  if (chosen !== null) for (let i = 0; i < total; i++) from[i] = chosen[from[i]!]!;
  return from;
}

/** The bits of each key as whole numbers in the order of the floats that they are, the largest for NaN; the lesser words first. */
function sortable(keys: Numbers, chosen: Chosen, total: number, descending: boolean): Uint32Array[] {
  const narrow = keys instanceof Float32Array;
  const floats = narrow ? new Float32Array(total) : new Float64Array(total);
  // Adding zero makes -0 the same as 0.
  for (let i = 0; i < total; i++) floats[i] = keys[chosen === null ? i : chosen[i]!]! + 0;
  const bits = new Uint32Array(floats.buffer);
  const [size, top] = narrow ? [1, 0] : [2, 1];
  const words = Array.from({ length: size }, () => new Uint32Array(total));
  for (let i = 0; i < total; i++) {
    const missing = floats[i] !== floats[i];
    const negative = (bits[i * size + top]! & 0x80000000) !== 0;
    for (let w = 0; w < size; w++) {
      const one = bits[i * size + w]!;
      const up = negative ? ~one : w === top ? one | 0x80000000 : one;
      words[w]![i] = missing ? 0xffffffff : descending ? ~up : up;
    }
  }
  return words;
}
