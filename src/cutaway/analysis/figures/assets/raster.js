
// Discs and triangles on a bitmap, without a graphics card: the same everywhere, and as many figures in a notebook as one likes.
const discs = new Map();
// How far the sides of a triangle are from its middle, and its corners, where a disc of radius 1 covers as much.
const SIDE = 0.777;
const CORNER = 1.555;

// How much of each pixel around its middle a disc covers, in 256 parts, or a triangle as large; only its rim where
// `rim` > 0. `steps` lead from the middle to each pixel of a bitmap that is `width` wide.
function discOf(radius, rim, width, triangle = false) {
  const key = ((Math.round(radius * 2) * 64 + Math.round(rim * 2)) * 65536 + width) * 2 + (triangle ? 1 : 0);
  if (!discs.has(key)) {
    const reach = Math.ceil((triangle ? CORNER : 1) * radius + 0.5);
    const [rows, columns, shares] = [[], [], []];
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const away = triangle ? Math.max(dy, 0.866 * Math.abs(dx) - 0.5 * dy) / SIDE : Math.hypot(dx, dy);
        let share = Math.min(1, Math.max(0, radius + 0.5 - away));
        if (rim) share *= Math.min(1, Math.max(0, away - (radius - rim) + 0.5));
        if (share > 0.02) { rows.push(dy); columns.push(dx); shares.push(Math.round(share * 256)); }
      }
    }
    const steps = Int32Array.from(rows, (dy, i) => dy * width + columns[i]);
    discs.set(key, { reach, steps, rows: Int16Array.from(rows), columns: Int16Array.from(columns), shares: Uint16Array.from(shares) });
  }
  return discs.get(key);
}

class Bitmap {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.resize(canvas.width, canvas.height);
  }

  resize(width, height) {
    this.canvas.width = this.width = Math.max(1, width);
    this.canvas.height = this.height = Math.max(1, height);
    this.image = this.context.createImageData(this.width, this.height);
    this.words = new Uint32Array(this.image.data.buffer);
  }

  fill([red, green, blue]) {
    this.words.fill(((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0);
  }

  // Blends a disc over what is there; `strength` from 0 to 256. Red and blue are mixed in one go.
  disc(x, y, disc, colour, strength) {
    const { words, width, height } = this;
    const { reach, steps, rows, columns, shares } = disc;
    const inside = x >= reach && y >= reach && x < width - reach && y < height - reach;
    const middle = y * width + x;
    const violet = colour & 0xff00ff;
    const green = colour & 0x00ff00;
    for (let k = 0; k < steps.length; k++) {
      if (!inside) {
        const [row, column] = [y + rows[k], x + columns[k]];
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
      }
      const at = middle + steps[k];
      const share = (shares[k] * strength) >> 8;
      const rest = 256 - share;
      const old = words[at];
      const mixed = (((old & 0xff00ff) * rest + violet * share) >>> 8) & 0xff00ff;
      const mixedGreen = (((old & 0x00ff00) * rest + green * share) >>> 8) & 0x00ff00;
      words[at] = 0xff000000 | mixed | mixedGreen;
    }
  }

  show() {
    this.context.putImageData(this.image, 0, 0);
  }
}

function rgbOf(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// A colour as it lies in a bitmap: blue, green, red.
function wordOf(colour) {
  const [red, green, blue] = rgbOf(colour);
  return (blue << 16) | (green << 8) | red;
}
