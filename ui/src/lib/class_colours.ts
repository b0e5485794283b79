// The colours of classes: the same everywhere and in both themes, as `cutaway.class_colours` has them. Classes 11 to 20 have the
// same ten with a second mark, a triangle where the first is a disc; beyond that both come again, and names tell classes apart.

export const CLASS_COLOURS = ["#0055fa", "#fd5914", "#b53658", "#5e9db9", "#ff38a0", "#0e8278", "#748dff", "#ae4402", "#55a65c", "#b122a4"] as const;

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
