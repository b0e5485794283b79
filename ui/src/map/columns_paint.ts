// A column as colours of the map and as its legend: kinds by name, numbers along a ramp.

import { CLASS_COLOURS, classColour, isTriangle, MARKED_CLASSES } from "../lib/class_colours";
import type { Theme } from "../lib/theme.svelte";
import type { Binned } from "./binning";
import { ranksOf, recoded, type CodedColumn, type Column, type NumberColumn } from "./columns";
import { codesOfNumbers, continuousPalette, missingColour } from "./palettes";
import type { Colours } from "./types";

export interface Kind {
  name: string;
  /** Its code in the column's own names. */
  code: number;
  colour: string;
  triangle: boolean;
}

export type Legend =
  | { type: "kinds"; column: string; kinds: readonly Kind[]; missing: string; note: string; repeats: boolean }
  | { type: "ramp"; column: string; colours: readonly string[]; min: number; max: number; log: boolean; missing: string };

export interface Paint {
  colours: Colours;
  legend: Legend;
}

/** `classes` have their colours by their place, so that a label and a prediction of it look alike. */
export function paintOf(column: Column, binned: Binned, classes: readonly string[], theme: Theme): Paint {
  return column.kind === "number" ? ofNumbers(column, binned, theme) : ofKinds(column, classes, theme);
}

function ofNumbers(column: NumberColumn, { edges, scale }: Binned, theme: Theme): Paint {
  const log = scale === "ratio";
  const palette = continuousPalette(theme);
  const min = edges[log ? 1 : 0] ?? 0;
  const max = edges.at(-1) ?? 1;
  const colours = { codes: codesOfNumbers(column.values, { min, max, scale: log ? "log" : "linear" }), palette };
  return { colours, legend: { type: "ramp", column: column.name, colours: palette.slice(0, -1), min: edges[0] ?? 0, max, log, missing: missingColour(theme) } };
}

function ofKinds(column: CodedColumn, classes: readonly string[], theme: Theme): Paint {
  const known = new Set(classes);
  const asClasses = classes.length > 0 && column.names.some((name) => known.has(name)) && ["label", "prediction", "suggested"].includes(column.name);
  const places = asClasses ? recoded({ ...column, codes: Int32Array.from(column.names, (_, i) => i) }, classes).codes : ranksOf(column.kind === "yes-or-no" ? column.names.map(yesFirst) : column.names);
  const count = Math.max(0, ...places) + 1;
  const missing = Math.min(count, MARKED_CLASSES);
  const codes = new Uint16Array(column.codes.length);
  for (let i = 0; i < codes.length; i++) {
    const code = column.codes[i]!;
    codes[i] = code < 0 ? missing : places[code]! % MARKED_CLASSES;
  }
  const marks = Array.from({ length: missing }, (_, place) => place);
  const colours = { codes, palette: [...marks.map(classColour), missingColour(theme)], triangles: [...marks.map(isTriangle), false] };
  const kinds = column.names.map((name, code) => ({ name, code, colour: classColour(places[code]!), triangle: isTriangle(places[code]!) }));
  kinds.sort((a, b) => places[a.code]! - places[b.code]!);
  return { colours, legend: { type: "kinds", column: column.name, kinds, missing: missingColour(theme), note: noteOf(count), repeats: count > MARKED_CLASSES } };
}

/** What a legend says of so many kinds; empty where there is nothing to say. */
function noteOf(count: number): string {
  if (count <= CLASS_COLOURS.length) return "";
  if (count <= MARKED_CLASSES) return "Triangles have the colours of dots again.";
  return `After ${MARKED_CLASSES}, marks repeat: tell classes by their names.`;
}

// Yes has the first colour, which is the calm one.
function yesFirst(name: string): string {
  return /^(true|yes|1)$/i.test(name) ? "0" : "1";
}
