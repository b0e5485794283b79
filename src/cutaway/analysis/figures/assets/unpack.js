
"use strict";

// Data of the page: JSON, compressed, in base64; arrays inside it are base64 of little-endian numbers.
const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };

function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

function arrayOf(packed) {
  return new KINDS[packed.kind](bytesOf(packed.bytes).buffer);
}

async function readData() {
  const bytes = bytesOf(JSON.parse(document.getElementById("data").textContent));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

// As in Python: at most four digits that matter.
function numberText(value) {
  if (value === null || Number.isNaN(value)) return "none";
  if (Number.isInteger(value) || Math.abs(value) >= 1e4) {
    return Math.abs(value) < 1e15 ? value.toLocaleString("en", { maximumFractionDigits: 0 }) : value.toPrecision(4);
  }
  return Math.abs(value) < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

// The middle is left out: both ends tell names apart.
function shortText(text, most) {
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - end).join("")}…${letters.slice(letters.length - end).join("")}`;
}

// Texts of samples only ever become text, never markup.
function element(name, classes, text) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  if (text !== undefined) made.textContent = text;
  return made;
}

function isDark() {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function onTheme(draw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

function begin(start) {
  readData().then(start).catch((error) => {
    const said = element("p", "", `The figure could not be drawn: ${error.message}. A browser of 2023 or later is needed.`);
    said.setAttribute("role", "alert");
    document.querySelector("figure").prepend(said);
  });
}
