// Where the names of classes are written on the map: each at the sample that lies nearest to the middle of its class.

import type { CodedColumn } from "./columns";
import type { MapLabel, Points } from "./types";

// Points come in random order: the first are a fair sample of all.
const SAMPLE = 100_000;
/** The most that are tried: of more, no map has room for the names. */
const MOST = 200;

/** The names of a column, those of the most points first. */
export function namesOnMap(column: CodedColumn, { x, y }: Points): MapLabel[] {
  const members = column.names.map((): number[] => []);
  for (let i = 0; i < Math.min(SAMPLE, x.length); i++) if (Number.isFinite(x[i]! + y[i]!)) members[column.codes[i]!]?.push(i);
  const order = members.map((_, code) => code).filter((code) => members[code]!.length > 0).sort((a, b) => members[b]!.length - members[a]!.length);
  return order.slice(0, MOST).map((code) => {
    const own = members[code]!;
    const middle = [median(own, x), median(own, y)] as const;
    // A class in two halves has its middle between them, where none of its samples is.
    const away = (i: number): number => Math.abs(x[i]! - middle[0]) + Math.abs(y[i]! - middle[1]);
    const nearest = own.reduce((best, i) => (away(i) < away(best) ? i : best));
    return { x: x[nearest]!, y: y[nearest]!, text: column.names[code]! };
  });
}

function median(places: readonly number[], values: Float32Array): number {
  return Float32Array.from(places, (i) => values[i]!).sort()[places.length >> 1]!;
}
