"""When a page is useful, as JavaScript that looks at it."""

from __future__ import annotations

__all__ = ["BLANK", "CURVE", "FIRST_ROW", "RUNS", "STEPS", "STRIPES", "TENSORBOARD"]

# A canvas that was only laid out does not count: a curve has the shades of its edges, stripes fill what they stand on.
_LOOK = """
const look = (canvas) => {
  if (!canvas || !canvas.width || !canvas.height) return { colours: 0, filled: 0 };
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  let filled = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (!data[i + 3]) continue;
    filled += 4 / data.length;
    if (colours.size < 9) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  }
  return { colours: colours.size, filled };
};
"""

BLANK = "() => document.querySelector('#app h1') !== null"
CURVE = f"() => {{ {_LOOK} return look(document.querySelector('.uplot canvas')).colours > 8; }}"
STRIPES = f"() => {{ {_LOOK} return look(document.querySelector('[role=application] canvas')).filled > 0.5; }}"
RUNS = "() => document.querySelectorAll('tr[data-index] a').length > 5"
FIRST_ROW = "() => document.querySelector('tr[data-index=\"0\"] a')?.href"
# How many steps the page says that the run has.
STEPS = """() => Number([...document.querySelectorAll('dt')].find((one) => one.textContent === 'Steps')
  ?.nextElementSibling.textContent.replace(/\\D/g, ''))"""
# Its axes and the canvas over them are there; whether the curve itself is drawn cannot be seen from outside.
TENSORBOARD = """() => [...document.querySelectorAll('line-chart svg path')].some(
  (one) => (one.getAttribute('d') || '').length > 8) && document.querySelector('line-chart canvas') !== null"""
