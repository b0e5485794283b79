// What is said of a model, in words. Knows no server and no DOM.

import type { ModelFile, ModelLayer, ModelTensor } from "../../api/schema";
import { grouped } from "../../lib/format";

/** A shape as people write it; an axis of any length is `any`. */
export function shapeText(shape: readonly (number | null)[]): string {
  return shape.length === 0 ? "one number" : shape.map((one) => (one === null ? "any" : grouped(one))).join(" × ");
}

export function tensorText({ name, shape, dtype }: ModelTensor): string {
  return `${name}: ${dtype} ${shapeText(shape)}`;
}

/** Bytes as people read them. */
export function sizeText(bytes: number | null): string {
  if (bytes === null) return "size not known";
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = "";
  for (unit of units) {
    value /= 1000;
    if (value < 999.5) break;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

export function fileText(file: ModelFile): string {
  return file.kept ? "the run has a copy" : "named by the run, which has no copy";
}

/** Layers whose name or kind has the text. */
export function layersLike(layers: readonly ModelLayer[], text: string): ModelLayer[] {
  const wanted = text.trim().toLowerCase();
  return wanted ? layers.filter((one) => one.name.toLowerCase().includes(wanted) || one.kind.toLowerCase().includes(wanted)) : [...layers];
}

/** All parameters, and whether some layers do not say. */
export function parameterText(layers: readonly ModelLayer[]): string {
  const known = layers.filter((one) => one.parameters !== null);
  if (known.length === 0) return "";
  const all = known.reduce((sum, one) => sum + one.parameters!, 0);
  return `${grouped(all)} parameters${known.length < layers.length ? " in the layers that say so" : ""}`;
}

/** What a file picker takes, from kinds such as `image`, `.npy` or `text`. */
export function acceptOf(uploads: readonly string[]): string {
  const known: Record<string, string> = { picture: "image/*", image: "image/*", text: "text/plain,.txt", array: ".npy", npy: ".npy" };
  return uploads.flatMap((one) => {
    const word = one.toLowerCase();
    if (word.startsWith(".")) return [word];
    const kind = Object.keys(known).find((name) => word.includes(name));
    return kind ? [known[kind]!] : [];
  }).join(",");
}
