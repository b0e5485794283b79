
// Lines, intervals and bars as SVG, with the numbers of the place under the pointer or the keys.
begin((data) => {
  const SVG = "http://www.w3.org/2000/svg";
  const { spots, panels } = data;
  const place = document.getElementById("chart");
  const dimmed = new Set();
  let current = -1;
  const legend = element("ul", "legend");
  const drawing = element("div");
  const tip = element("div", "tip");
  tip.hidden = true;
  const status = element("p");
  status.id = "status";
  status.setAttribute("role", "status");
  place.append(legend, drawing, tip, status);

  const shown = panels.flatMap((panel) => panel.series.filter((one) => !one.faint));
  const lines = shown.filter((one) => one.kind !== "bars");
  const colourOf = (series) => {
    return series.kind === "bars" ? data.bars[isDark() ? "dark" : "light"] : data.colours[series.colour % data.colours.length];
  };
  const strengthOf = (series) => (series.faint ? 0.3 : 1) * (dimmed.size && !dimmed.has(series.name) && series.kind !== "bars" && !(series.faint && dimmed.has(series.name.replace(/ raw$/, ""))) ? 0.12 : 1);

  function mark(name, attributes, parent, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  function drawLegend() {
    legend.replaceChildren();
    if (lines.length < 2) return;
    for (const series of lines) {
      const item = element("li");
      const button = element("button");
      button.type = "button";
      button.setAttribute("aria-pressed", dimmed.has(series.name));
      const dash = element("span", "dash");
      dash.style.borderColor = colourOf(series);
      if (series.right) dash.style.borderTopStyle = "dashed";
      const name = element("span", "name", shortText(series.name, 26));
      name.title = series.name;
      button.append(dash, name);
      button.addEventListener("click", () => {
        if (dimmed.has(series.name)) dimmed.delete(series.name);
        else dimmed.add(series.name);
        draw();
        legend.querySelectorAll("button")[lines.indexOf(series)].focus();
      });
      item.append(button);
      legend.append(item);
    }
  }

  // Runs of values that follow one another: a gap in the data is a gap in the line.
  function runsOf(values) {
    const runs = [[]];
    values.forEach((value, i) => { if (value === null) runs.push([]); else runs[runs.length - 1].push(i); });
    return runs.filter((run) => run.length);
  }

  function drawSeries(series, group, x, y) {
    const colour = colourOf(series);
    const inner = mark("g", { opacity: strengthOf(series) }, group);
    if (series.kind === "bars") {
      series.y.forEach((value, i) => {
        const [left, right] = [x(spots.x[i] - spots.widths[i] / 2), x(spots.x[i] + spots.widths[i] / 2)];
        if (value !== null) mark("rect", { x: left + 0.5, y: y(value), width: Math.max(1, right - left - 1), height: Math.max(0, y(0) - y(value)), fill: colour }, inner);
      });
      return;
    }
    const interval = series.low && series.high;
    for (const run of runsOf(series.y)) {
      const known = interval ? run.filter((i) => series.low[i] !== null && series.high[i] !== null) : [];
      if (series.kind === "points") {
        for (const i of known) mark("line", { x1: x(spots.x[i]), x2: x(spots.x[i]), y1: y(series.low[i]), y2: y(series.high[i]), stroke: colour, "stroke-width": 1.5, opacity: 0.6 }, inner);
      } else {
        if (known.length > 1 && (data.bands || series.faint)) {
          const up = known.map((i) => `${x(spots.x[i])},${y(series.high[i])}`);
          const down = known.map((i) => `${x(spots.x[i])},${y(series.low[i])}`).reverse();
          mark("polygon", { points: [...up, ...down].join(" "), fill: colour, opacity: 0.18 }, inner);
        }
        mark("polyline", { points: run.map((i) => `${x(spots.x[i])},${y(series.y[i])}`).join(" "), fill: "none", stroke: colour, "stroke-width": series.faint ? 1 : 2, "stroke-dasharray": series.right && !series.faint ? "7 4" : "none" }, inner);
      }
      if (!series.faint && (spots.x.length <= 60 || run.length === 1)) {
        for (const i of run) mark("circle", { cx: x(spots.x[i]), cy: y(series.y[i]), r: 3.5, fill: colour }, inner);
      }
    }
  }

  function drawAcross(group, x, box) {
    const room = Math.max(1, Math.floor((box.right - box.left) / 70));
    if (!spots.named) {
      for (const tick of ticksOf(...box.domain, room)) mark("text", { x: x(tick), y: box.bottom + 17, "text-anchor": "middle" }, group, numberText(tick));
    } else {
      const step = Math.max(1, Math.ceil((spots.x.length * 18) / (box.right - box.left)));
      spots.texts.forEach((text, i) => {
        if (i % step) return;
        const cut = shortText(text, 16);
        const turn = box.fits ? {} : { transform: `rotate(-40 ${x(spots.x[i])} ${box.bottom + 14})` };
        mark("text", { x: x(spots.x[i]), y: box.bottom + 16, "text-anchor": box.fits ? "middle" : "end", ...turn }, group, cut);
      });
    }
    mark("text", { class: "label", x: (box.left + box.right) / 2, y: box.end - 6, "text-anchor": "middle" }, group, spots.label);
  }

  function drawUp(group, domain, y, box, side, label) {
    const at = side === "left" ? box.left : box.right;
    for (const tick of ticksOf(...domain, Math.max(2, (box.bottom - box.top) / 45))) {
      if (side === "left") mark("line", { class: "grid", x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }, group);
      mark("text", { x: at + (side === "left" ? -8 : 8), y: y(tick) + 4, "text-anchor": side === "left" ? "end" : "start" }, group, numberText(tick));
    }
    const [lx, ly] = [side === "left" ? 15 : box.whole - 10, (box.top + box.bottom) / 2];
    mark("text", { class: "label", x: lx, y: ly, "text-anchor": "middle", transform: `rotate(-90 ${lx} ${ly})` }, group, label);
  }

  let layout = null;
  function draw() {
    drawLegend();
    const width = Math.max(280, place.clientWidth);
    const longest = spots.named ? Math.max(0, ...spots.texts.map((one) => Math.min(one.length, 16))) : 0;
    const fits = (place.clientWidth - 90) / spots.x.length > 8 * longest;
    const foot = fits ? 44 : 44 + 6 * longest;
    const height = Math.max(300, Math.min(560, innerHeight - 190));
    const right = panels.some((panel) => panel.series.some((one) => one.right)) ? 68 : 16;
    const edges = spots.x.flatMap((one, i) => [one - spots.widths[i] / 2, one + spots.widths[i] / 2]);
    const domain = extentOf([edges.length ? edges : [0, 1]], false);
    const x = scaleOf(domain, 74, width - right);
    drawing.replaceChildren();
    const svg = mark("svg", { viewBox: `0 0 ${width} ${height}`, height, tabindex: 0, role: "application", "aria-roledescription": "chart", "aria-label": `Chart along ${spots.label}. Left and right arrow keys read the numbers.`, "aria-describedby": "caption" }, drawing);
    const whole = panels.reduce((sum, panel) => sum + panel.share, 0);
    let top = 8;
    for (const panel of panels) {
      const tall = ((height - foot - 8) * panel.share) / whole;
      const box = { left: 74, right: width - right, top, bottom: top + tall - (panel === panels[panels.length - 1] ? 0 : 22), whole: width, end: height, domain, fits };
      for (const side of ["left", "right"]) {
        const own = panel.series.filter((one) => one.right === (side === "right"));
        if (!own.length) continue;
        const range = extentOf(own.flatMap((one) => (data.bands || one.kind !== "line" || one.faint ? [one.y, one.low, one.high] : [one.y])), panel.fromZero);
        const y = scaleOf(range, box.bottom, box.top);
        const group = mark("g", {}, svg);
        drawUp(group, range, y, box, side, side === "left" ? panel.label : panel.rightLabel);
        own.forEach((series) => drawSeries(series, group, x, y));
      }
      mark("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }, svg);
      top += tall;
      if (panel === panels[panels.length - 1]) drawAcross(mark("g", {}, svg), x, box);
    }
    const cross = mark("line", { class: "cross", y1: 8, y2: height - foot, visibility: "hidden" }, svg);
    layout = { svg, x, cross, width };
    listen(svg);
    point(current);
  }

  function point(index) {
    current = index;
    const none = index < 0 || index >= spots.x.length;
    tip.hidden = none;
    layout.cross.setAttribute("visibility", none ? "hidden" : "visible");
    if (none) { status.textContent = ""; return; }
    const at = layout.x(spots.x[index]);
    layout.cross.setAttribute("x1", at);
    layout.cross.setAttribute("x2", at);
    const list = element("dl");
    const said = [];
    for (const series of shown) {
      if (series.y[index] === null) continue;
      const interval = series.low && series.low[index] !== null ? ` (${numberText(series.low[index])} to ${numberText(series.high[index])})` : "";
      list.append(element("dt", "", series.name), element("dd", "", numberText(series.y[index]) + interval));
      said.push(`${series.name} ${numberText(series.y[index])}${interval}`);
    }
    const card = element("div", "card");
    card.append(element("div", "id", spots.texts[index]), list);
    tip.replaceChildren(card);
    status.textContent = document.activeElement === layout.svg ? `${spots.texts[index]}: ${said.join(", ")}` : "";
    tip.style.left = `${at + 16 + tip.offsetWidth > layout.width ? Math.max(0, at - 16 - tip.offsetWidth) : at + 16}px`;
    tip.style.top = `${layout.svg.getBoundingClientRect().top - place.getBoundingClientRect().top + 16}px`;
  }

  function listen(svg) {
    svg.addEventListener("pointermove", (event) => {
      const px = event.clientX - svg.getBoundingClientRect().left;
      let best = -1;
      spots.x.forEach((one, i) => { if (best < 0 || Math.abs(layout.x(one) - px) < Math.abs(layout.x(spots.x[best]) - px)) best = i; });
      point(best);
    });
    svg.addEventListener("pointerleave", () => point(-1));
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { event.preventDefault(); point(Math.min(spots.x.length - 1, Math.max(0, current + step))); }
      if (event.key === "Escape") { dimmed.clear(); current = -1; draw(); layout.svg.focus(); }
    });
  }

  draw();
  let width = place.clientWidth;
  new ResizeObserver(() => { if (place.clientWidth !== width) { width = place.clientWidth; draw(); } }).observe(place);
  onTheme(draw);
  document.documentElement.dataset.ready = "yes";
});
