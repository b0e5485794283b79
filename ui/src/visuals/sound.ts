// Sound as a picture: the lowest and highest value of each stretch. Knows no DOM.

import type { Values } from "./arrays";
import { extremes } from "./arrays";

/** One upright stroke a column, as a path in a box; all channels together. */
export function waveform({ values, shape }: Values, width: number, height: number): string {
  const channels = shape[1] ?? 1;
  const times = shape[0] ?? 0;
  const found = extremes(values);
  if (!found || times === 0) return "";
  const bound = Math.max(Math.abs(found.min), Math.abs(found.max)) || 1;
  const y = (value: number): number => Math.round((height / 2 - (value / bound) * (height / 2 - 1)) * 10) / 10;
  let path = "";
  for (let x = 0; x < width; x++) {
    const from = Math.floor((x * times) / width) * channels;
    const to = Math.max(from + channels, Math.floor(((x + 1) * times) / width) * channels);
    let [low, high] = [Infinity, -Infinity];
    for (let i = from; i < to && i < values.length; i++) {
      low = Math.min(low, values[i]!);
      high = Math.max(high, values[i]!);
    }
    if (low <= high) path += `M${x + 0.5} ${y(high)}V${Math.max(y(low), y(high) + 0.6)}`;
  }
  return path;
}
