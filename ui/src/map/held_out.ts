// By which points a model is judged where nobody chose subsets: those held out from it, never mixed with training ones.

import type { CodedColumn } from "./columns";
import type { Chosen } from "./counting";

export interface Counted {
  points: Chosen;
  /** How many training points with an answer do not count. */
  left: number;
  /** Whether training points count beside held-out ones, which makes a model look better than it is. */
  mixed: boolean;
}

/** The subsets of these that are held out from a training. */
export function heldOut(names: readonly string[]): string[] {
  return names.filter((name) => name !== "training" && name !== "unlabeled");
}

/**
 * The points of a selection that count: the held-out ones, or those of training where none of these has an answer; all
 * where somebody `asked` for subsets. `answered` says of a point whether it has what is counted.
 */
export function counted(subset: CodedColumn, answered: (point: number) => boolean, chosen: Chosen, asked: boolean): Counted {
  const total = chosen === null ? subset.codes.length : chosen.length;
  const point = (j: number): number => (chosen === null ? j : chosen[j]!);
  const held = heldOut(subset.names);
  const isHeld = subset.names.map((name) => held.includes(name));
  const training = subset.names.indexOf("training");
  let [ofHeld, ofTraining] = [0, 0];
  for (let j = 0; j < total; j++) {
    const i = point(j);
    const code = subset.codes[i]!;
    if (!answered(i)) continue;
    if (code === training) ofTraining++;
    else if (isHeld[code]) ofHeld++;
  }
  if (asked) return { points: chosen, left: 0, mixed: ofHeld > 0 && ofTraining > 0 };
  const points = new Uint32Array(ofHeld > 0 ? ofHeld : ofTraining);
  for (let j = 0, next = 0; j < total; j++) {
    const i = point(j);
    const code = subset.codes[i]!;
    if (answered(i) && (ofHeld > 0 ? isHeld[code] : code === training)) points[next++] = i;
  }
  return { points, left: ofHeld > 0 ? ofTraining : 0, mixed: false };
}
