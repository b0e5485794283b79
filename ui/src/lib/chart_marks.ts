// Marks of findings on a chart: those that would lie on each other become one.

import type { ChartMark } from "./chart_data";

export interface PlacedMark {
  /** Pixels from the left. */
  left: number;
  severity: ChartMark["severity"];
  label: string;
  href: string;
  count: number;
}

const RANK: Record<ChartMark["severity"], number> = { info: 0, warning: 1, error: 2 };
export const SHAPES: Record<ChartMark["severity"], string> = { info: "●", warning: "▲", error: "■" };

/** `place` says where an x is, in pixels; marks closer than `apart` are shown as their worst, the first of those. */
export function placedMarks(marks: readonly ChartMark[], place: (x: number) => number, width: number, apart = 14): PlacedMark[] {
  const sorted = marks
    .map((mark) => ({ mark, left: place(mark.x) }))
    .filter(({ left }) => left >= -0.5 && left <= width + 0.5)
    .sort((a, b) => a.left - b.left);
  const found: { group: typeof sorted }[] = [];
  for (const one of sorted) {
    const last = found.at(-1);
    if (last && one.left - last.group[0]!.left < apart) last.group.push(one);
    else found.push({ group: [one] });
  }
  return found.map(({ group }) => {
    const worst = group.reduce((best, one) => (RANK[one.mark.severity] > RANK[best.mark.severity] ? one : best));
    const more = group.length - 1;
    return {
      left: worst.left,
      severity: worst.mark.severity,
      label: more > 0 ? `${worst.mark.label} (and ${more} more here)` : worst.mark.label,
      href: worst.mark.href,
      count: group.length,
    };
  });
}
