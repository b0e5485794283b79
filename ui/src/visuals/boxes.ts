// Boxes over an image: relative centres and sizes become corners in the pixels on screen. Knows no DOM.

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  confidence: number;
  rotation: number;
  label: string;
  metadata: Record<string, unknown>;
}

export type Corner = readonly [number, number];

/** The four corners on an image of this size, clockwise from the upper left; turned clockwise by the box's degrees. */
export function cornersOf(box: Box, width: number, height: number): Corner[] {
  const angle = (box.rotation * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const [halfWidth, halfHeight] = [(box.width * width) / 2, (box.height * height) / 2];
  const around: Corner[] = [[-halfWidth, -halfHeight], [halfWidth, -halfHeight], [halfWidth, halfHeight], [-halfWidth, halfHeight]];
  // Turned in pixels: relative units would shear a box on an image that is not square.
  return around.map(([dx, dy]) => [box.x * width + dx * cos - dy * sin, box.y * height + dx * sin + dy * cos]);
}

const TRUTH = new Set(["truth", "ground truth", "ground_truth", "gt", "label"]);

/** Whether a box is said to be the truth: by `truth` or `gt` in its metadata, or by its `kind` or `source`. */
export function isTruth({ metadata }: Box): boolean {
  if (metadata["truth"] === true || metadata["gt"] === true) return true;
  return ["kind", "source"].some((key) => TRUTH.has(String(metadata[key] ?? "").toLowerCase()));
}

/** What a box says of itself beyond that it is the truth, in words. */
export function boxFacts(box: Box): string {
  const known = isTruth(box) ? ["truth", "gt", "kind", "source"] : [];
  return Object.entries(box.metadata).filter(([key]) => !known.includes(key)).map(([key, value]) => `${key} ${String(value)}`).join(", ");
}

/** Where the name of a box stands, of this size on an image so wide: above the box, or inside where there is no room. */
export function labelPlace(corners: readonly Corner[], long: number, tall: number, width: number): Corner {
  const top = Math.min(...corners.map(([, y]) => y));
  const left = Math.max(0, Math.min(width - long, ...corners.map(([x]) => x)));
  return [left, top >= tall ? top - tall : Math.max(0, top)];
}
