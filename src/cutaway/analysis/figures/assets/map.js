
// The controls of the map: pointer, keys, legend, search, the sample under the pointer and the pinned one.
begin((data) => {
  const byId = (id) => document.getElementById(id);
  const view = new MapView(data, byId("points"), byId("marks"));
  const columns = data.columns.map((one) => ({ ...one, values: arrayOf(one.values) }));
  const pictures = picturesOf(data.previews);
  const selected = data.selected && arrayOf(data.selected);
  const chosen = new Set();
  let wrongOnly = false;
  const byImportance = Array.from(view.x.keys()).sort((a, b) => view.scale[b] - view.scale[a] || view.wrong[b] - view.wrong[a] || a - b);
  let step = -1;

  function picturesOf(packed) {
    const [rows, ends] = [arrayOf(packed.rows), arrayOf(packed.ends)];
    const bytes = bytesOf(packed.bytes.bytes);
    const places = new Map();
    rows.forEach((row, i) => places.set(row, bytes.subarray(i ? ends[i - 1] : 0, ends[i])));
    return places;
  }

  function pictureOf(index) {
    const bytes = pictures.get(index);
    if (!bytes) return null;
    const image = element("img");
    image.alt = `Picture of sample ${data.ids[index]}`;
    image.src = `data:image/png;base64,${btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join(""))}`;
    return image;
  }

  function valueText(column, index) {
    const value = column.values[index];
    if (!column.names) return numberText(value);
    return value ? column.names[value - 1] : "none";
  }

  function cardOf(index) {
    const card = element("div", "card");
    const image = pictureOf(index);
    if (image) card.append(image);
    card.append(element("div", "id", data.ids[index]));
    if (view.wrong[index]) card.append(element("div", "wrong", "misclassified"));
    const list = element("dl");
    for (const column of columns) {
      list.append(element("dt", "", column.name), element("dd", "", valueText(column, index)));
    }
    card.append(list);
    return card;
  }

  function pin(index) {
    view.pinned = index;
    const place = byId("sample");
    place.replaceChildren();
    place.hidden = index < 0;
    if (index >= 0) {
      const close = element("button", "", "Unpin");
      close.type = "button";
      close.addEventListener("click", () => pin(-1));
      place.append(cardOf(index), close);
      byId("status").textContent = `Pinned ${data.ids[index]}.`;
    }
    view.draw();
  }

  function hover(index, px, py) {
    if (index !== view.hovered) {
      view.hovered = index;
      byId("tip").replaceChildren(...(index < 0 ? [] : [cardOf(index)]));
      view.drawMarks();
    }
    const tip = byId("tip");
    tip.hidden = index < 0;
    if (index < 0) return;
    const stage = byId("stage");
    tip.style.left = `${px + 18 + tip.offsetWidth > stage.clientWidth ? Math.max(0, px - 18 - tip.offsetWidth) : px + 18}px`;
    tip.style.top = `${Math.max(0, Math.min(py + 12, stage.clientHeight - tip.offsetHeight - 4))}px`;
  }

  function light() {
    let count = 0;
    for (let i = 0; i < view.count; i++) {
      const on = (!chosen.size || chosen.has(view.codes[i])) && (!wrongOnly || view.wrong[i]) && (chosen.size || wrongOnly || !selected || selected[i]);
      view.lit[i] = on ? 1 : 0;
      count += on ? 1 : 0;
    }
    const all = count === view.count;
    byId("clear").hidden = !(chosen.size || wrongOnly);
    byId("status").textContent = all ? "" : `${numberText(count)} of ${numberText(view.count)} points in full colour.`;
    view.draw();
  }

  function entry(name, count, colour, pressed, toggle, triangle = false) {
    const item = element("li");
    const button = element("button");
    button.type = "button";
    button.setAttribute("aria-pressed", pressed);
    const dot = element("span", colour ? (triangle ? "dot triangle" : "dot") : "dot ring");
    if (colour) dot.style.background = colour;
    const text = element("span", "name", shortText(name, 20));
    text.title = name;
    button.append(dot, text, element("span", "count", numberText(count)));
    button.addEventListener("click", () => { toggle(); light(); legend(); });
    item.append(button);
    return item;
  }

  function legend() {
    const place = byId("legend");
    const focused = Array.from(place.querySelectorAll("button")).indexOf(document.activeElement);
    const shades = data.themes[isDark() ? "dark" : "light"].shades;
    const list = element("ul", "legend");
    place.replaceChildren();
    if (data.colour && data.colour.entries) {
      for (const one of data.colour.entries) {
        const toggle = () => (chosen.has(one.code) ? chosen.delete(one.code) : chosen.add(one.code));
        list.append(entry(one.name, one.count, shades[one.code], chosen.has(one.code), toggle, view.triangles[one.code] === 1));
      }
    } else if (data.colour) {
      place.append(ramp(shades), ends(data.colour.low, data.colour.high));
      if (data.colour.none) list.append(entry("no value", data.colour.none, shades[255], chosen.has(255), () => (chosen.has(255) ? chosen.delete(255) : chosen.add(255))));
    }
    const wrong = view.wrong.reduce((sum, one) => sum + one, 0);
    if (wrong) list.append(entry("misclassified", wrong, null, wrongOnly, () => { wrongOnly = !wrongOnly; }));
    place.append(list);
    if (data.size) place.append(sizes());
    if (focused >= 0) place.querySelectorAll("button")[focused].focus();
  }

  function ramp(shades) {
    const canvas = element("canvas", "ramp");
    canvas.width = 255;
    canvas.height = 1;
    const pen = canvas.getContext("2d");
    for (let i = 0; i < 255; i++) { pen.fillStyle = shades[i]; pen.fillRect(i, 0, 1, 1); }
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Colours from ${numberText(data.colour.low)} to ${numberText(data.colour.high)}`);
    return canvas;
  }

  function ends(low, high) {
    const row = element("div", "ends");
    row.append(element("span", "", `≤ ${numberText(low)}`), element("span", "", `≥ ${numberText(high)}`));
    return row;
  }

  function sizes() {
    const row = element("div", "sizes");
    row.append(element("span", "name", data.size.column));
    for (const [value, times, more] of [[data.size.low, 1, ""], [data.size.high, 3.2, " or more"]]) {
      const dot = element("i");
      dot.style.width = dot.style.height = `${2 * data.radius * times}px`;
      row.append(dot, element("span", "", numberText(value) + more));
    }
    return row;
  }

  function find(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return;
    const lowered = data.ids.map((one) => one.toLowerCase());
    const exact = lowered.indexOf(wanted);
    const found = [];
    lowered.forEach((one, i) => { if (one.includes(wanted)) found.push(i); });
    if (!found.length) { byId("status").textContent = `No sample has “${text.trim()}” in its id.`; return; }
    // Again for the same text: the next one.
    const next = exact >= 0 ? exact : found[(found.indexOf(view.pinned) + 1) % found.length];
    pin(next);
    view.show(next);
    const place = exact >= 0 ? "" : ` ${found.indexOf(next) + 1} of ${numberText(found.length)} that match.`;
    byId("status").textContent = `Pinned ${data.ids[next]}.${place}`;
  }

  function walk(by) {
    if (!view.count) return;
    step = (step + by + view.count) % view.count;
    pin(byImportance[step]);
    view.show(byImportance[step]);
  }

  const marks = byId("marks");
  const at = (event) => { const box = marks.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  let drag = null;
  marks.addEventListener("pointerdown", (event) => {
    marks.setPointerCapture(event.pointerId);
    drag = { x: event.clientX, y: event.clientY, moved: 0 };
  });
  marks.addEventListener("pointermove", (event) => {
    if (!drag) { hover(view.pick(...at(event)), ...at(event)); return; }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    drag = { x: event.clientX, y: event.clientY, moved: drag.moved + Math.abs(dx) + Math.abs(dy) };
    if (drag.moved > 3) { marks.classList.add("dragging"); hover(-1); view.move(dx, dy); }
  });
  marks.addEventListener("pointerup", (event) => {
    if (drag && drag.moved <= 3) pin(view.pick(...at(event)));
    drag = null;
    marks.classList.remove("dragging");
  });
  marks.addEventListener("pointercancel", () => { drag = null; marks.classList.remove("dragging"); });
  marks.addEventListener("pointerleave", () => hover(-1));
  marks.addEventListener("wheel", (event) => {
    event.preventDefault();
    hover(-1);
    view.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...at(event));
  }, { passive: false });

  const middle = () => [marks.clientWidth / 2, marks.clientHeight / 2];
  const zoom = (times) => view.zoomBy(times, ...middle());
  const clear = () => { chosen.clear(); wrongOnly = false; light(); legend(); };
  const keys = {
    ArrowLeft: () => view.move(60, 0), ArrowRight: () => view.move(-60, 0), ArrowUp: () => view.move(0, 60), ArrowDown: () => view.move(0, -60),
    "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: () => view.fit(),
    j: () => walk(1), k: () => walk(-1), Enter: () => { if (view.hovered >= 0) pin(view.hovered); },
    Escape: () => { pin(-1); clear(); },
  };
  marks.addEventListener("keydown", (event) => {
    const act = keys[event.key] || keys[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  byId("in").addEventListener("click", () => zoom(1.6));
  byId("out").addEventListener("click", () => zoom(1 / 1.6));
  byId("fit").addEventListener("click", () => view.fit());
  byId("clear").addEventListener("click", clear);
  byId("find").addEventListener("submit", (event) => { event.preventDefault(); find(byId("id").value); });
  new ResizeObserver(() => view.resize()).observe(byId("stage"));
  onTheme(() => { view.draw(); legend(); });
  light();
  legend();
  document.documentElement.dataset.ready = "yes";
});
