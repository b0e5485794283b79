// How a heat map is drawn: over a picture, behind tokens, under a line, or by itself. Goes by the map's places and by what
// the visualizers show. Knows no DOM.

import type { VisualRow } from "../../api/schema";
import { decoded, type ArrayData, type Values } from "../../visuals/arrays";
import { kindOf, pictureOf, type Typed } from "../../visuals/typed";
import type { ImageArray } from "../../visuals/pixels";

export type HeatShape =
  | { how: "picture"; height: number; width: number; values: ArrayLike<number>; picture: ImageArray | null; note: string }
  | { how: "tokens"; values: ArrayLike<number>; tokens: string[] }
  | { how: "line"; values: ArrayLike<number>; line: Typed["Graph"] }
  | { how: "strip"; values: ArrayLike<number> };

type Visual = Pick<VisualRow, "type" | "data" | "error">;

export function heatShape(array: ArrayData, visuals: readonly Visual[]): HeatShape {
  const map = decoded(array);
  const kinds = visuals.flatMap((one) => (one.error ? [] : [kindOf(one.type, one.data)])).filter((one) => one !== null);
  if (map.shape.length >= 2) return pictureShape(map, kinds.flatMap((one) => pictureOf(one) ?? []));
  const text = kinds.find((one) => one.type === "Text" && one.data.tokens.length === map.values.length);
  if (text?.type === "Text") return { how: "tokens", values: map.values, tokens: text.data.tokens };
  const line = kinds.find((one) => one.type === "Graph");
  if (line?.type === "Graph") return { how: "line", values: map.values, line: line.data };
  return { how: "strip", values: map.values };
}

function pictureShape({ values, shape }: Values, pictures: readonly ImageArray[]): HeatShape {
  const [height, width] = shape.slice(-2) as [number, number];
  const frames = shape.slice(0, -2).reduce((all, one) => all * one, 1);
  const frame = frames > 1 ? strongestFrame(values, frames, height * width) : 0;
  const shown = frames > 1 ? Array.prototype.slice.call(values, frame * height * width, (frame + 1) * height * width) as number[] : values;
  const fits = (one: ImageArray): boolean => Math.abs(one.shape[0]! * width - one.shape[1]! * height) <= Math.max(one.shape[0]!, one.shape[1]!);
  const picture = pictures.find((one) => one.shape[0] === height && one.shape[1] === width) ?? pictures.find(fits) ?? null;
  return { how: "picture", height, width, values: shown, picture, note: frames > 1 ? `Place ${frame + 1} of ${frames}, where the map is strongest.` : "" };
}

function strongestFrame(values: ArrayLike<number>, frames: number, size: number): number {
  let [best, most] = [0, -1];
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0;
    for (let i = frame * size; i < (frame + 1) * size; i++) sum += Math.abs(values[i]!) || 0;
    if (sum > most) [best, most] = [frame, sum];
  }
  return best;
}
