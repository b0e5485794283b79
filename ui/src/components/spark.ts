// A sparkline as an SVG path: what is not finite leaves a gap, a value alone between gaps a dot.

export interface SparkShape {
  path: string;
  last: { x: number; y: number } | null;
  gaps: number;
}

/** `pad` keeps the line's width inside the box. */
export function sparkShape(values: readonly (number | null)[], width: number, height: number, pad = 2): SparkShape {
  const finite = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (finite.length === 0) return { path: "", last: null, gaps: values.length };
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const right = Math.max(1, values.length - 1);
  const x = (i: number): number => round(pad + (i / right) * (width - 2 * pad));
  const y = (value: number): number => round(high === low ? height / 2 : pad + ((high - value) / (high - low)) * (height - 2 * pad));
  const parts: string[] = [];
  let open = false;
  let last: SparkShape["last"] = null;
  values.forEach((value, i) => {
    if (value === null || !Number.isFinite(value)) {
      open = false;
      return;
    }
    last = { x: x(i), y: y(value) };
    const alone = !open && !isFinite(values[i + 1] ?? NaN);
    parts.push(`${open ? "L" : "M"}${last.x} ${last.y}${alone ? "h0" : ""}`);
    open = true;
  });
  return { path: parts.join(""), last, gaps: values.length - finite.length };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
