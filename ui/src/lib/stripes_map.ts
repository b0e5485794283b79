// All rows of stripes in the height of one panel: where to scroll to when they are too many to be seen at once.

import { BROKEN, type Levels } from "./stripes";

/** How unusual each row is, from 0 to 255: how far its cells are from the usual on the whole. `BROKEN` where any is not finite. */
export function rowHeat(levels: Levels, rows: number, columns: number): Int16Array {
  const heat = new Int16Array(rows);
  const middle = levels.map === "diverging" ? 128 : 0;
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    let count = 0;
    for (let i = row * columns; i < (row + 1) * columns; i++) {
      const cell = levels.cells[i]!;
      if (cell === BROKEN) {
        sum = -1;
        break;
      }
      if (cell < 0) continue;
      sum += Math.abs(cell - middle);
      count += 1;
    }
    heat[row] = sum < 0 ? BROKEN : count === 0 ? 0 : Math.min(255, Math.round((sum / count) * (middle > 0 ? 2 : 1)));
  }
  return heat;
}

/** The rows in so many lines, each line as its most unusual row: one sick row among thousands is seen. */
export function linesOf(heat: Int16Array, lines: number): Int16Array {
  const found = new Int16Array(lines);
  heat.forEach((value, row) => {
    const line = Math.min(lines - 1, Math.floor((row * lines) / heat.length));
    if (value > found[line]!) found[line] = value;
  });
  return found;
}
