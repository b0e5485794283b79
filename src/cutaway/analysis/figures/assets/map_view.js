
// Where points lie on the screen, and how they are drawn there. Knows nothing of controls.
const DIM = 0.07;

class MapView {
  constructor(data, pointsCanvas, marksCanvas) {
    Object.assign(this, { data, marks: marksCanvas, bitmap: new Bitmap(pointsCanvas) });
    this.x = arrayOf(data.x);
    this.y = arrayOf(data.y);
    this.codes = arrayOf(data.codes);
    this.scale = arrayOf(data.scale);
    this.wrong = arrayOf(data.wrong);
    this.count = this.x.length;
    this.lit = new Uint8Array(this.count).fill(1);
    this.zoom = 1;
    this.hovered = this.pinned = -1;
    this.bounds = this.boundsOf();
    this.resize();
  }

  boundsOf() {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.count; i++) {
      left = Math.min(left, this.x[i]); right = Math.max(right, this.x[i]);
      low = Math.min(low, this.y[i]); high = Math.max(high, this.y[i]);
    }
    return this.count ? { left, right, low, high } : { left: 0, right: 1, low: 0, high: 1 };
  }

  resize() {
    const box = this.marks.getBoundingClientRect();
    this.ratio = Math.min(2, devicePixelRatio || 1);
    const [width, height] = [Math.round(box.width * this.ratio), Math.round(box.height * this.ratio)];
    this.bitmap.resize(width, height);
    this.marks.width = this.bitmap.width;
    this.marks.height = this.bitmap.height;
    if (this.centre === undefined) this.fit();
    else this.draw();
  }

  fit() {
    const { left, right, low, high } = this.bounds;
    this.centre = [(left + right) / 2, (low + high) / 2];
    this.zoom = 1;
    this.draw();
  }

  // Pixels of the bitmap for one unit of the map.
  get factor() {
    const { left, right, low, high } = this.bounds;
    const margin = 28 * this.ratio;
    const across = (this.bitmap.width - margin) / (right - left || 1);
    const down = (this.bitmap.height - margin) / (high - low || 1);
    return Math.max(Math.min(across, down), 1e-9) * this.zoom;
  }

  toScreen(x, y) {
    const k = this.factor;
    return [(x - this.centre[0]) * k + this.bitmap.width / 2, this.bitmap.height / 2 - (y - this.centre[1]) * k];
  }

  move(dx, dy) {
    const k = this.factor / this.ratio;
    this.centre = [this.centre[0] - dx / k, this.centre[1] + dy / k];
    this.draw();
  }

  // Zooms so that what is under the pointer, in pixels of the page, stays there.
  zoomBy(times, px, py) {
    const before = this.factor;
    this.zoom = Math.min(5000, Math.max(0.5, this.zoom * times));
    const after = this.factor;
    const [dx, dy] = [px * this.ratio - this.bitmap.width / 2, py * this.ratio - this.bitmap.height / 2];
    this.centre = [this.centre[0] + dx / before - dx / after, this.centre[1] - dy / before + dy / after];
    this.draw();
  }

  show(index) {
    const [x, y] = this.toScreen(this.x[index], this.y[index]);
    const edge = 40 * this.ratio;
    if (x < edge || y < edge || x > this.bitmap.width - edge || y > this.bitmap.height - edge) {
      this.centre = [this.x[index], this.y[index]];
    }
    this.draw();
  }

  radiusOf(index) {
    const grown = Math.min(2.6, this.zoom ** 0.35);
    const radius = this.data.radius * (1 + (2.2 * this.scale[index]) / 255) * grown * this.ratio;
    return Math.round(radius * 2) / 2;
  }

  pick(px, py) {
    const k = this.factor;
    const [sx, sy] = [px * this.ratio, py * this.ratio];
    const [ox, oy] = [this.bitmap.width / 2 - this.centre[0] * k, this.bitmap.height / 2 + this.centre[1] * k];
    let best = -1;
    let nearest = (10 * this.ratio) ** 2;
    for (let i = 0; i < this.count; i++) {
      const dx = this.x[i] * k + ox - sx;
      const dy = oy - this.y[i] * k - sy;
      const away = dx * dx + dy * dy;
      // The later one lies on top. A dimmed sample is only taken where no other is near.
      const felt = this.lit[i] ? away : away + 25;
      if (felt <= nearest) { nearest = felt; best = i; }
    }
    return best;
  }

  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.drawPoints();
      this.drawMarks();
    });
  }

  drawPoints() {
    const theme = this.data.themes[isDark() ? "dark" : "light"];
    const shades = theme.shades.map(rgbOf);
    const ink = rgbOf(theme.ink);
    const { bitmap, codes, lit, wrong } = this;
    bitmap.fill(rgbOf(theme.ground));
    const k = this.factor;
    const [ox, oy] = [bitmap.width / 2 - this.centre[0] * k, bitmap.height / 2 + this.centre[1] * k];
    // Dimmed ones first: what was chosen lies on top.
    for (const wanted of [0, 1]) {
      const alpha = wanted ? 0.8 : DIM;
      for (let i = 0; i < this.count; i++) {
        if (lit[i] !== wanted) continue;
        const column = Math.round(this.x[i] * k + ox);
        const row = Math.round(oy - this.y[i] * k);
        if (column < -40 || row < -40 || column > bitmap.width + 40 || row > bitmap.height + 40) continue;
        const radius = this.radiusOf(i);
        bitmap.disc(column, row, discOf(radius, 0), shades[codes[i]], alpha);
        if (wrong[i]) bitmap.disc(column, row, discOf(radius + 0.5 * this.ratio, this.ratio), ink, alpha);
      }
    }
    bitmap.show();
  }

  drawMarks() {
    const theme = this.data.themes[isDark() ? "dark" : "light"];
    const pen = this.marks.getContext("2d");
    pen.clearRect(0, 0, this.marks.width, this.marks.height);
    pen.font = `bold ${15 * this.ratio}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    for (const name of this.data.names) {
      const text = name.text.length > 18 ? `${name.text.slice(0, 17)}…` : name.text;
      const [x, y] = this.toScreen(name.x, name.y);
      pen.strokeStyle = theme.ground;
      pen.lineWidth = 4 * this.ratio;
      pen.strokeText(text, x, y);
      pen.fillStyle = theme.ink;
      pen.fillText(text, x, y);
    }
    for (const [index, width] of [[this.pinned, 3], [this.hovered, 2]]) {
      if (index < 0) continue;
      const [x, y] = this.toScreen(this.x[index], this.y[index]);
      for (const [colour, extra] of [[theme.ground, 2], [theme.ink, 0]]) {
        pen.beginPath();
        pen.arc(x, y, this.radiusOf(index) + 4 * this.ratio, 0, 2 * Math.PI);
        pen.strokeStyle = colour;
        pen.lineWidth = (width + extra) * this.ratio;
        pen.stroke();
      }
    }
  }
}
