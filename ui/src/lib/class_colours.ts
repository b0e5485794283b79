// The colours of classes: the same everywhere and in both themes, as `cutaway.class_colours` has them. Classes 11 to 20 have the
// same ten with a second mark, a triangle where the first is a disc; beyond that both come again, and names tell classes apart.

export const CLASS_COLOURS = ["#aa4b03", "#ca7d65", "#ca0562", "#10746d", "#5b93f8", "#fe6115", "#b516a7", "#ff3b9f", "#549fb4", "#0257ff"] as const;

/** So many classes have a mark of their own. */
export const MARKED_CLASSES = 2 * CLASS_COLOURS.length;

/** The colour of the class at a place in the order of the classes, from 0 on. */
export function classColour(place: number): string {
  return CLASS_COLOURS[place % CLASS_COLOURS.length]!;
}

/** Whether the second mark is that of the class at a place. */
export function isTriangle(place: number): boolean {
  return Math.floor(place / CLASS_COLOURS.length) % 2 === 1;
}
