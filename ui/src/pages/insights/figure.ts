// Figures on a line: where a value, its interval and what it is compared with lie, from 0 to 100 % of the width, and the same in words.

import type { InsightRow } from "../../api/schema";
import { number, share } from "../../lib/format";

export interface Scale {
  min: number;
  max: number;
}

const MARGIN = 0.08;

/** Where a value lies on a scale, in percent; what is beyond lies at the edge. */
export function placeOn(scale: Scale, value: number): number {
  const size = scale.max - scale.min;
  return size <= 0 ? 50 : Math.max(0, Math.min(100, ((value - scale.min) / size) * 100));
}

/** A scale that holds all values with some air around them. From zero, where they are shares or amounts of one sign. */
export function scaleOf(values: readonly (number | null | undefined)[], fromZero: boolean): Scale {
  const finite = values.filter((one): one is number => typeof one === "number" && Number.isFinite(one));
  if (finite.length === 0) return { min: 0, max: 1 };
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  const air = (most - least || Math.abs(most) || 1) * MARGIN;
  if (fromZero && least >= 0) return { min: 0, max: most + air };
  return { min: least - air, max: most + air };
}

export function amount(isShare: boolean, value: number | null): string {
  return isShare ? share(value) : number(value, 3);
}

export interface Difference {
  measure: string;
  /** Whether the two figures are shares of samples. */
  isShare: boolean;
  /** What they are of. */
  names: readonly [string, string];
  inside: number;
  outside: number;
  /** Where `inside` lies with 95 % certainty, measured from `outside`; null where that is not known. */
  low: number | null;
  high: number | null;
  scale: Scale;
  words: string;
}

/** An insight's measure there and elsewhere; null where it has no two figures. `low` and `high` of a row hold their difference. */
export function differenceOf(row: Pick<InsightRow, "measure" | "is_share" | "sides" | "inside" | "outside" | "low" | "high">): Difference | null {
  const { measure, is_share: isShare, inside, outside } = row;
  if (inside === null || outside === null) return null;
  const known = row.low !== null && row.high !== null;
  const low = known ? outside + row.low! : null;
  const high = known ? outside + row.high! : null;
  const interval = known ? ` 95 % interval of the difference: ${apart(isShare, row.low!)} to ${apart(isShare, row.high!)}.` : "";
  const names = [row.sides[0]!, row.sides[1]!] as const;
  return {
    measure,
    isShare,
    names,
    inside,
    outside,
    low,
    high,
    scale: scaleOf([inside, outside, low, high], true),
    words: `${measure}: ${names[0]} ${amount(isShare, inside)}, ${names[1]} ${amount(isShare, outside)}.${interval}`,
  };
}

function apart(isShare: boolean, value: number): string {
  return isShare ? `${number(value * 100, 2)} points` : number(value, 2);
}
