// How a run's numbers differ from the baseline's.

import { number } from "../../lib/format";
import type { CellValue } from "./columns";

/** The difference as a text with its sign, or nothing where there is none to tell. `written` writes its size. */
export function deltaText(value: CellValue, base: CellValue, written = (size: number) => number(size, 3)): string {
  if (typeof value !== "number" || typeof base !== "number") return "";
  const difference = value - base;
  if (!Number.isFinite(difference)) return "";
  // Two nearly equal numbers leave digits that nobody measured.
  if (Math.abs(difference) <= 1e-12 * Math.max(Math.abs(value), Math.abs(base))) return "±0";
  return `${difference > 0 ? "+" : "−"}${written(Math.abs(difference))}`;
}
