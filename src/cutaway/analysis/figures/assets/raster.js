
// Discs on a bitmap, without a graphics card: the same everywhere, and as many figures in a notebook as one likes.
const discs = new Map();

// How much of each pixel a disc, or only its rim where `rim` > 0, covers: rows of [dy, dx, share of 256].
function discOf(radius, rim) {
  const key = `${radius}|${rim}`;
  if (!discs.has(key)) {
    const reach = Math.ceil(radius + 0.5);
    const found = [];
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const away = Math.hypot(dx, dy);
        let share = Math.min(1, Math.max(0, radius + 0.5 - away));
        if (rim) share *= Math.min(1, Math.max(0, away - (radius - rim) + 0.5));
        if (share > 0.02) found.push(dy, dx, Math.round(share * 256));
      }
    }
    discs.set(key, Int16Array.from(found));
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

  // Blends a disc over what is there; `alpha` from 0 to 1.
  disc(x, y, cover, [red, green, blue], alpha) {
    const { words, width, height } = this;
    const strength = alpha * 256;
    for (let k = 0; k < cover.length; k += 3) {
      const row = y + cover[k];
      const column = x + cover[k + 1];
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      const share = (cover[k + 2] * strength) >> 8;
      const at = row * width + column;
      const old = words[at];
      const r = (old & 255) + (((red - (old & 255)) * share) >> 8);
      const g = ((old >> 8) & 255) + (((green - ((old >> 8) & 255)) * share) >> 8);
      const b = ((old >> 16) & 255) + (((blue - ((old >> 16) & 255)) * share) >> 8);
      words[at] = (255 << 24) | (b << 16) | (g << 8) | r;
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
