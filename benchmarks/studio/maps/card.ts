// Our map with its points drawn by WebGL, even where that is done by the processor: what a graphics card is given to do.

import { openContext, PointRenderer, type Frame } from "@map/renderer";
import { DIMMED, SHOWN } from "@map/types";
import type { Drawer } from "./main";
import { PALETTE, SIDE, type Made } from "./points";

export function create(canvas: HTMLCanvasElement, made: Made): Drawer {
  let renderer: PointRenderer;
  const flags = new Uint8Array(made.classes.length).fill(DIMMED);
  for (const i of made.chosen) flags[i] = SHOWN;
  const view = { x: 0, y: 0, scale: SIDE / 2 };
  const frame: Frame = { view, width: SIDE, height: SIDE, ratio: 1, count: flags.length, part: 1, background: [255, 255, 255], ink: [0, 0, 0] };
  const draw = (): Promise<void> =>
    new Promise((done) => {
      requestAnimationFrame(() => {
        renderer.draw(frame);
        const gl = canvas.getContext("webgl2")!;
        gl.readPixels(SIDE / 2, SIDE / 2, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
        done();
      });
    });
  return {
    paint: ({ points, classes }) => {
      canvas.width = canvas.height = SIDE;
      renderer = new PointRenderer(openContext(canvas)!, false);
      renderer.setPoints(points, null);
      renderer.setColours({ codes: classes, palette: PALETTE });
      return draw();
    },
    select: () => {
      renderer.setFlags(flags);
      return draw();
    },
    drawnWhileMoving: () => Promise.resolve(-1),
  };
}
