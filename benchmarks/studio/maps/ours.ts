// Our map, as the page draws it: its stage without what lies around it.

import { Stage } from "@map/stage";
import { DIMMED, SHOWN } from "@map/types";
import type { Drawer } from "./main";
import { PALETTE, SIDE, type Made } from "./points";

export function create(canvas: HTMLCanvasElement, made: Made): Drawer {
  let stage: Stage;
  let painted = (): void => {};
  const flags = new Uint8Array(made.classes.length).fill(DIMMED);
  for (const i of made.chosen) flags[i] = SHOWN;
  const pixel = new Uint8Array(4);
  const drawn = (): void => {
    const gl = canvas.getContext("webgl2")!;
    gl.readPixels(SIDE / 2, SIDE / 2, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    painted();
  };
  const until = (act: () => void): Promise<void> =>
    new Promise((done) => {
      painted = done;
      act();
    });
  return {
    paint: ({ points, classes }) =>
      until(() => {
        stage = new Stage(canvas, { drawn, state: () => {} });
        stage.resize({ width: SIDE, height: SIDE }, 1);
        stage.setPoints(points, false);
        stage.setColours({ codes: classes, palette: PALETTE });
        stage.look({ x: 0, y: 0, scale: SIDE / 2 }, false);
      }),
    select: () => until(() => stage.setFlags(flags)),
    drawnWhileMoving: async () => {
      // It is known by now how long a full picture takes.
      await new Promise((done) => setTimeout(done, 200));
      await until(() => stage.look({ x: 0.01, y: 0, scale: SIDE / 2 }, true));
      return Number(canvas.dataset.drawn);
    },
  };
}
