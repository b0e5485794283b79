// What a map of points is made of. Arrays have an element for each point, in the order of the answer `points.arrow`.

/** A corner of a lasso, or any place on the map, in the map's own coordinates. */
export type Place = readonly [x: number, y: number];

export interface Points {
  /** NaN where a sample has no place. */
  x: Float32Array;
  y: Float32Array;
  /** What tells which samples these are, in which order. */
  samples?: string;
  /** Where the same samples lay on the map before, NaN where one had no place on it. */
  from?: Points;
}

/** Which colour each point has: an index into `palette`, which are CSS hex colours (`#rrggbb`), at most 4,096. */
export interface Colours {
  codes: Uint16Array;
  palette: readonly string[];
  /** Which colours of the palette belong to triangles, where not all belong to discs. */
  triangles?: readonly boolean[];
}

/** How a point is drawn, by its number. */
export const HIDDEN = 0;
export const DIMMED = 1;
export const SHOWN = 2;
export const MARKED = 3;

/** What is in the middle of the canvas, and how many CSS pixels one unit of the map takes. */
export interface View {
  x: number;
  y: number;
  scale: number;
}

export type Tool = "pan" | "lasso" | "box";

export interface MapLabel {
  x: number;
  y: number;
  text: string;
}

/** The properties of `PointMap.svelte`. Nothing is copied: give a new array, never change one that was given. */
export interface PointMapProps {
  points: Points;
  colours: Colours;
  /** 0 to 255 for each point; null draws all alike. */
  sizes: Uint8Array | null;
  /** HIDDEN, DIMMED, SHOWN or MARKED for each point; null shows all. */
  flags: Uint8Array | null;
  tool: Tool;
  /** Null fits all points. */
  view: View | null;
  lasso: readonly Place[];
  labels: readonly MapLabel[];
  /** Samples that have a ring around them: the one that is open, its similars. */
  rings: readonly number[];
  /** What the map shows, for those who cannot see it. */
  description: string;
  onview: (view: View | null) => void;
  /** A closed lasso or box of at most 24 corners; empty where it was taken back. */
  onlasso: (corners: readonly Place[]) => void;
  /** The point under the pointer and where that is in CSS pixels of the map; -1 for none. */
  onhover: (point: number, left: number, top: number) => void;
  onpick: (point: number) => void;
}
