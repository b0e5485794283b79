// Where one looks on the map, as the address has it: the middle and the scale.

import type { View } from "../../map/types";

export function lookFrom(text: string | null): View | null {
  const parts = (text ?? "").split(",").map(Number);
  const [x, y, scale] = parts;
  return parts.length === 3 && parts.every(Number.isFinite) && scale! > 0 ? { x: x!, y: y!, scale: scale! } : null;
}

/** Null where all is in sight. */
export function lookText(look: View | null): string | null {
  return look && [look.x, look.y, look.scale].map((value) => String(Number(value.toPrecision(6)))).join(",");
}
