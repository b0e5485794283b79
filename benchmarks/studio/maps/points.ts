// The points that both maps draw: clouds of ten classes, the same in every run.

import { CLASS_COLOURS } from "@map/../lib/class_colours";

export const SIDE = 800;
export const CLASSES = 10;
export const PALETTE = [...CLASS_COLOURS];

export interface Made {
  points: { x: Float32Array; y: Float32Array };
  classes: Uint16Array;
  /** A tenth of the points. */
  chosen: number[];
}

export function madePoints(count: number): Made {
  let state = 7;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
  const x = new Float32Array(count), y = new Float32Array(count), classes = new Uint16Array(count), chosen: number[] = [];
  for (let i = 0; i < count; i++) {
    const kind = Math.floor(random() * CLASSES);
    const angle = (kind / CLASSES) * 2 * Math.PI;
    const noise = (): number => (random() + random() + random() - 1.5) * 0.35;
    classes[i] = kind;
    x[i] = Math.max(-0.98, Math.min(0.98, 0.55 * Math.cos(angle) + noise()));
    y[i] = Math.max(-0.98, Math.min(0.98, 0.55 * Math.sin(angle) + noise()));
    if (kind === 3) chosen.push(i);
  }
  return { points: { x, y }, classes, chosen };
}
