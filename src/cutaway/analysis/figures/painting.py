"""What every PNG shares: its title and caption, quiet axes, and texts that matplotlib draws as they are."""

from __future__ import annotations

import textwrap
from functools import cache
from typing import TYPE_CHECKING, Any

from cutaway.analysis.figures.palettes import LIGHT
from cutaway.analysis.figures.words import clean, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["frame", "move_frame", "paint_grid", "plain"]

# About as wide as a letter of the caption and as high as its lines, in inches.
LETTER = 0.071
LINE = 0.16
TITLE: dict[str, Any] = {"fontsize": 14, "color": LIGHT.ink, "fontweight": "bold"}
CAPTION: dict[str, Any] = {"fontsize": 9, "color": LIGHT.muted, "x": 0.02, "ha": "left"}


def frame(canvas: Canvas, title: str, caption: str) -> None:
    """Write the title above and the caption below, in as many lines as they need."""
    wide = canvas.get_figwidth()
    layout = canvas.get_layout_engine()
    if layout is not None:
        layout.set(w_pad=0.12, h_pad=0.12)  # type: ignore[call-arg]
    if title:
        lines = textwrap.wrap(clean(title), max(10, int(wide / (LETTER * 1.9))))[:2]
        canvas.suptitle(plain("\n".join(lines), most=None), **TITLE)
    if caption:
        # At most a quarter of the height: the drawing needs the rest. A page has the whole caption.
        most = max(1, int(canvas.get_figheight() / 4 / LINE))
        across = max(10, int((wide - 0.4) / LETTER))
        lines = textwrap.wrap(clean(caption), across, max_lines=most, placeholder=" …")
        canvas.supxlabel(plain("\n".join(lines), most=None), **CAPTION)


def move_frame(canvas: Canvas, *, top: float, bottom: float) -> None:
    """Put the title and the caption where no layout does it: in very tall figures a share of the height is far off."""
    canvas.suptitle(canvas.get_suptitle(), y=top, va="top", **TITLE)
    canvas.supxlabel(canvas.get_supxlabel(), y=bottom, va="bottom", **CAPTION)


def plain(text: str, most: int | None = 40) -> str:
    r"""Return a text that matplotlib draws letter by letter: `$` starts no formula, and what its font lacks is a box.

    >>> plain("$x$")
    '\\$x\\$'
    """
    cut = text if most is None else short(text, most)
    known = _letters()
    return "".join("□" if ord(one) not in known and one != "\n" else one for one in cut).replace("$", r"\$")


@cache
def _letters() -> frozenset[int]:
    """Return the characters that the font of figures has; each one that it lacks would be a warning."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties())).get_charmap())


def paint_grid(axes: Axes, *, lines: bool = True) -> None:
    """Give axes thin grey lines and no box."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(LIGHT.line)
    axes.tick_params(colors=LIGHT.muted, labelsize=9)
    axes.xaxis.label.set_color(LIGHT.ink)
    axes.yaxis.label.set_color(LIGHT.ink)
    if lines:
        axes.grid(visible=True, axis="y", color=LIGHT.line, linewidth=0.7)
        axes.set_axisbelow(True)
