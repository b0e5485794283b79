// Stripes onto a canvas: one pixel a cell in a picture of their own, stretched without smoothing onto the part in sight.

import { BROKEN, type Levels, type Stripes } from "../../../lib/stripes";

export interface Drawing {
  stripes: Stripes;
  levels: Levels;
  picture: Uint32Array;
  width: number;
  /** Of a row. */
  height: number;
  seen: number;
  scroll: number;
  colours: { gap: string; line: string; hatch: string };
}

// The picture of the last levels: scrolling draws it again without painting it anew.
let kept: { of: Uint32Array; canvas: HTMLCanvasElement } | null = null;

export function drawStripes(canvas: HTMLCanvasElement, drawing: Drawing): void {
  const { stripes, width, height, seen, scroll } = drawing;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(seen * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${seen}px`;
  const context = canvas.getContext("2d");
  if (!context || stripes.columns === 0 || stripes.tensors.length === 0) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.imageSmoothingEnabled = false;
  const first = Math.floor(scroll / height);
  const count = Math.min(stripes.tensors.length - first, Math.ceil(seen / height) + 1);
  const top = first * height - scroll;
  context.drawImage(pictureOf(drawing), 0, first, stripes.columns, count, 0, top, width, count * height);
  if (height >= 6) hatch(context, drawing, first, count, top);
  lines(context, drawing, first, count, top);
}

function pictureOf({ stripes, picture }: Drawing): HTMLCanvasElement {
  if (kept?.of === picture) return kept.canvas;
  const canvas = document.createElement("canvas");
  canvas.width = stripes.columns;
  canvas.height = stripes.tensors.length;
  const bytes = new Uint8ClampedArray(picture.buffer as ArrayBuffer);
  canvas.getContext("2d")?.putImageData(new ImageData(bytes, stripes.columns, stripes.tensors.length), 0, 0);
  kept = { of: picture, canvas };
  return canvas;
}

// What is not finite is not told by its colour alone.
function hatch(context: CanvasRenderingContext2D, { stripes, levels, width, height, colours }: Drawing, first: number, count: number, top: number): void {
  const { columns } = stripes;
  const cell = width / columns;
  context.save();
  context.beginPath();
  let any = false;
  for (let row = first; row < first + count; row++) {
    for (let column = 0; column < columns; column++) {
      if (levels.cells[row * columns + column] !== BROKEN) continue;
      let end = column + 1;
      while (end < columns && levels.cells[row * columns + end] === BROKEN) end += 1;
      context.rect(column * cell, top + (row - first) * height, (end - column) * cell, height);
      any = true;
      column = end;
    }
  }
  if (any) {
    context.clip();
    context.strokeStyle = colours.hatch;
    context.lineWidth = 1.2;
    context.beginPath();
    const tall = count * height;
    for (let x = -tall; x < width; x += 7) {
      context.moveTo(x, top + tall);
      context.lineTo(x + tall, top);
    }
    context.stroke();
  }
  context.restore();
}

function lines(context: CanvasRenderingContext2D, { stripes, width, height, colours }: Drawing, first: number, count: number, top: number): void {
  // Only over what is drawn already: where a tensor has no data there is nothing to part.
  context.globalCompositeOperation = "source-atop";
  for (let row = Math.max(1, first); row < first + count; row++) {
    const begins = stripes.layers[row] !== stripes.layers[row - 1];
    if (height < (begins ? 5 : 8)) continue;
    context.fillStyle = begins && height >= 8 ? colours.line : colours.gap;
    context.fillRect(0, top + (row - first) * height, width, 1);
  }
}
