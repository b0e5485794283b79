"""When a page is useful, as JavaScript that looks at it."""

from __future__ import annotations

__all__ = ["BLANK", "CURVE", "FIRST_ROW", "RUNS", "STEPS", "STRIPES", "TENSORBOARD"]

# An ink that is neither the paper nor nothing: a canvas that was only laid out does not count.
_PAINTED = """
const painted = (canvas) => {
  if (!canvas || !canvas.width || !canvas.height) return false;
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3]) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    if (colours.size > 8) return true;
  }
  return false;
};
"""

BLANK = "() => document.querySelector('#app h1') !== null"
CURVE = "() => { %s return painted(document.querySelector('.uplot canvas')); }" % _PAINTED  # noqa: UP031 - braces
STRIPES = "() => { %s return painted(document.querySelector('[role=application] canvas')); }" % _PAINTED  # noqa: UP031
RUNS = "() => document.querySelectorAll('tr[data-index] a').length > 5"
FIRST_ROW = "() => document.querySelector('tr[data-index=\"0\"] a')?.href"
# How many steps the page says that the run has.
STEPS = """() => Number([...document.querySelectorAll('dt')].find((one) => one.textContent === 'Steps')
  ?.nextElementSibling.textContent.replace(/\\D/g, ''))"""
# Its axes and the canvas over them are there; whether the curve itself is drawn cannot be seen from outside.
TENSORBOARD = """() => [...document.querySelectorAll('line-chart svg path')].some(
  (one) => (one.getAttribute('d') || '').length > 8) && document.querySelector('line-chart canvas') !== null"""
