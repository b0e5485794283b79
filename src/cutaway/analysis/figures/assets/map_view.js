
// Where points lie on the screen, and how they are drawn there. Knows nothing of controls.
const DIM = 18;
// So many points are drawn while the map moves; they lie in random order, so that any part looks like all.
const MOVING = 50000;

class MapView {
  constructor(data, pointsCanvas, marksCanvas) {
    Object.assign(this, { data, marks: marksCanvas, bitmap: new Bitmap(pointsCanvas) });
    this.x = arrayOf(data.x);
    this.y = arrayOf(data.y);
    this.codes = arrayOf(data.codes);
    this.triangles = arrayOf(data.triangles);
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
    this.drawMoving();
  }

  // Zooms so that what is under the pointer, in pixels of the page, stays there.
  zoomBy(times, px, py) {
    const before = this.factor;
    this.zoom = Math.min(5000, Math.max(0.5, this.zoom * times));
    const after = this.factor;
    const [dx, dy] = [px * this.ratio - this.bitmap.width / 2, py * this.ratio - this.bitmap.height / 2];
    this.centre = [this.centre[0] + dx / before - dx / after, this.centre[1] - dy / before + dy / after];
    this.drawMoving();
  }

  show(index) {
    const [x, y] = this.toScreen(this.x[index], this.y[index]);
    const edge = 40 * this.ratio;
    if (x < edge || y < edge || x > this.bitmap.width - edge || y > this.bitmap.height - edge) {
      this.centre = [this.x[index], this.y[index]];
    }
    this.draw();
  }

  radiusOfScale(scale) {
    const grown = Math.min(2.6, this.zoom ** 0.35);
    return Math.round(this.data.radius * (1 + (2.2 * scale) / 255) * grown * this.ratio * 2) / 2;
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

  draw(stride = 1) {
    clearTimeout(this.settling);
    this.stride = stride;
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.drawPoints(this.stride);
      this.drawMarks();
    });
  }

  drawMoving() {
    const stride = Math.ceil(this.count / MOVING);
    this.draw(stride);
    if (stride > 1) this.settling = setTimeout(() => this.draw(), 150);
  }

  drawPoints(stride = 1) {
    const theme = this.data.themes[isDark() ? "dark" : "light"];
    const shades = Uint32Array.from(theme.shades, wordOf);
    const ink = wordOf(theme.ink);
    const { bitmap, codes, lit, wrong, scale, count, x: xs, y: ys } = this;
    const { width, height } = bitmap;
    const k = this.factor;
    const [ox, oy] = [width / 2 - this.centre[0] * k, height / 2 + this.centre[1] * k];
    const radii = Array.from({ length: 256 }, (_, size) => this.radiusOfScale(size));
    const bodies = [false, true].map((triangle) => radii.map((radius) => discOf(radius, 0, width, triangle)));
    const rims = [false, true].map((triangle) => radii.map((radius) => discOf(radius + 0.5 * this.ratio, this.ratio, width, triangle)));
    bitmap.fill(rgbOf(theme.ground));
    // Dimmed ones first: what was chosen lies on top.
    for (const wanted of [0, 1]) {
      const strength = wanted ? 205 : DIM;
      for (let i = 0; i < count; i += stride) {
        if (lit[i] !== wanted) continue;
        const column = Math.round(xs[i] * k + ox);
        const row = Math.round(oy - ys[i] * k);
        if (column < -40 || row < -40 || column > width + 40 || row > height + 40) continue;
        const mark = this.triangles[codes[i]];
        bitmap.disc(column, row, bodies[mark][scale[i]], shades[codes[i]], strength);
        if (wrong[i]) bitmap.disc(column, row, rims[mark][scale[i]], ink, strength);
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
    const taken = [];
    for (const name of this.data.names) {
      const text = shortText(name.text, 18);
      const [x, y] = this.toScreen(name.x, name.y);
      const half = pen.measureText(text).width / 2;
      // Names that would lie on a larger class's wait until there is room.
      if (taken.some((one) => Math.abs(one.x - x) < one.half + half && Math.abs(one.y - y) < 19 * this.ratio)) continue;
      taken.push({ x, y, half });
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
        pen.arc(x, y, this.radiusOfScale(this.scale[index]) + 4 * this.ratio, 0, 2 * Math.PI);
        pen.strokeStyle = colour;
        pen.lineWidth = (width + extra) * this.ratio;
        pen.stroke();
      }
    }
  }
}
