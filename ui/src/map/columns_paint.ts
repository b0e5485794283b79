// A column as colours of the map and as its legend: kinds by name, numbers along a ramp.

import type { Theme } from "../lib/theme.svelte";
import type { Binned } from "./binning";
import { ranksOf, recoded, type CodedColumn, type Column, type NumberColumn } from "./columns";
import { categoricalPalette, codesOfNumbers, continuousPalette, missingColour, MOST_COLOURS, paletteNote } from "./palettes";
import type { Colours } from "./types";

export interface Kind {
  name: string;
  /** Its code in the column's own names. */
  code: number;
  colour: string;
}

export type Legend =
  | { type: "kinds"; column: string; kinds: readonly Kind[]; missing: string; note: string }
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
  const palette = categoricalPalette(Math.min(count, MOST_COLOURS - 1), theme);
  const missing = palette.length;
  const codes = new Uint16Array(column.codes.length);
  for (let i = 0; i < codes.length; i++) {
    const code = column.codes[i]!;
    codes[i] = code < 0 ? missing : places[code]! % missing;
  }
  const kinds = column.names.map((name, code) => ({ name, code, colour: palette[places[code]! % missing]! }));
  kinds.sort((a, b) => places[a.code]! - places[b.code]!);
  return { colours: { codes, palette: [...palette, missingColour(theme)] }, legend: { type: "kinds", column: column.name, kinds, missing: missingColour(theme), note: paletteNote(count) } };
}

// Yes has the first colour, which is the calm one.
function yesFirst(name: string): string {
  return /^(true|yes|1)$/i.test(name) ? "0" : "1";
}
