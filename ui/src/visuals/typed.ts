// What visualizers return as the server sends it: one shape for each type, and the check that data have it.

import type { ArrayData } from "./arrays";
import type { Box } from "./boxes";
import type { ImageArray } from "./pixels";

export interface Typed {
  Image: { image: ImageArray; compress: boolean };
  Video: { frames: ImageArray };
  ImageWithBBox: { image: ImageArray; boxes: Box[] };
  Graph: { data: ArrayData; x_label: string | null; y_label: string | null; x_range: [number, number] | null };
  Text: { tokens: string[]; heatmap: ArrayData | null };
  HorizontalBar: { body: ArrayData; gt: ArrayData | null; labels: string[] };
  ImageMask: { image: ImageArray; mask: ArrayData; labels: string[] };
  TextMask: { tokens: string[]; mask: ArrayData; labels: string[] };
  ImageWithHeatmap: { image: ImageArray; heatmaps: ArrayData; labels: string[] };
  Audio: { data: ArrayData; sample_rate: number; wav: string };
}

export type TypeName = keyof Typed;
export type Kind = { [Name in TypeName]: { type: Name; data: Typed[Name] } }[TypeName];

const FIELDS: { [Name in TypeName]: readonly (keyof Typed[Name] & string)[] } = {
  Image: ["image"],
  Video: ["frames"],
  ImageWithBBox: ["image", "boxes"],
  Graph: ["data"],
  Text: ["tokens"],
  HorizontalBar: ["body", "labels"],
  ImageMask: ["image", "mask", "labels"],
  TextMask: ["tokens", "mask", "labels"],
  ImageWithHeatmap: ["image", "heatmaps", "labels"],
  Audio: ["data", "wav"],
};

/** What a visualizer returned, or null where it is of no type that is known or lacks what such a type has. */
export function kindOf(type: string, data: Record<string, unknown>): Kind | null {
  if (!Object.hasOwn(FIELDS, type)) return null;
  const fields: readonly string[] = FIELDS[type as TypeName];
  return fields.every((name) => data[name] !== undefined && data[name] !== null) ? ({ type, data } as unknown as Kind) : null;
}

/** The picture that a heat map can be laid over, where this is one. */
export function pictureOf(kind: Kind | null): ImageArray | null {
  if (kind === null || !("image" in kind.data)) return null;
  return kind.data.image;
}
