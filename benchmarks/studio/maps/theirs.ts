// regl-scatterplot, as its documentation says that it is fastest: columns, squares without blending, no transition, no events.

import createScatterplot from "regl-scatterplot";
import type { Drawer } from "./main";
import { PALETTE, SIDE, type Made } from "./points";

export function create(canvas: HTMLCanvasElement, made: Made): Drawer {
  let scatterplot: ReturnType<typeof createScatterplot>;
  const chosen = made.chosen.slice();
  // It draws on a canvas of its own and copies that to this one.
  const read = (): void => void canvas.getContext("2d")!.getImageData(SIDE / 2, SIDE / 2, 1, 1);
  return {
    paint: async ({ points, classes }, diameter) => {
      scatterplot = createScatterplot({
        canvas,
        width: SIDE,
        height: SIDE,
        aspectRatio: 1,
        pointSize: diameter,
        pointColor: PALETTE,
        colorBy: "valueA",
        // What is selected is as large as before and has no outline, as on our map: both would cost it time.
        pointSizeSelected: 0,
        pointOutlineWidth: 0,
        opacity: 1,
        opacityInactiveScale: 0.2,
        performanceMode: true,
      });
      await scatterplot.draw({ x: points.x, y: points.y, valueA: classes }, { zDataType: "categorical" });
      read();
    },
    select: async () => {
      await new Promise<void>((done) => {
        scatterplot.subscribe("draw", () => done(), 1);
        scatterplot.select(chosen, { preventEvent: true });
      });
      read();
    },
    drawnWhileMoving: () => Promise.resolve(-1),
  };
}
