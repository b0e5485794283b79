"""Lines and bars over one axis: with matplotlib, and as what `chart.js` draws in a page. Chooses nothing."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from cutaway.analysis.figures.figure import Content
from cutaway.analysis.figures.painting import paint_grid, plain
from cutaway.analysis.figures.palettes import DARK, LIGHT
from cutaway.analysis.figures.words import clean, number
from cutaway.class_colours import CLASS_COLOURS, class_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["Chart", "Numbers", "Panel", "Series", "Spots"]

Numbers = tuple[float, ...]
# A table of more rows is read by nobody, and the figure's own data is at hand as a table.
MOST_ROWS = 500
# What lines of more classes than these show is a tangle of bands.
MOST_BANDS = 4


@dataclass(frozen=True)
class Spots:
    """The places along the axis that all series share; `texts` name them, `widths` are those of bars."""

    label: str
    x: Numbers
    texts: tuple[str, ...]
    widths: Numbers
    named: bool = False


@dataclass(frozen=True)
class Series:
    """One number for each spot, NaN where there is none. `colour` counts the colours of classes.

    `low` and `high` are an interval around it. A `faint` one lies behind the others and is not in the legend; a
    `right` one belongs to the axis on the right and is dashed.
    """

    name: str
    y: Numbers
    colour: int = 0
    kind: Literal["line", "points", "bars"] = "line"
    low: Numbers | None = None
    high: Numbers | None = None
    faint: bool = False
    right: bool = False


@dataclass(frozen=True)
class Panel:
    """Series over one another, in `share` parts of the height."""

    label: str
    series: tuple[Series, ...]
    right_label: str = ""
    share: int = 3
    from_zero: bool = False


@dataclass(frozen=True)
class Chart(Content):
    """Panels above one another that share their axis."""

    spots: Spots
    panels: tuple[Panel, ...]

    scripts = ("chart_scales.js", "chart.js")

    @property
    def has_bands(self) -> bool:
        """Whether intervals are drawn around lines; among many lines they are left to the page's numbers."""
        return sum(one.low is not None for panel in self.panels for one in panel.series if not one.faint) <= MOST_BANDS

    def paint(self, canvas: Canvas) -> None:
        """Draw the panels and a legend."""
        heights = [panel.share for panel in self.panels]
        rows = canvas.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        handles: list[Any] = []
        for axes, panel in zip(rows, self.panels, strict=True):
            paint_grid(axes)
            axes.set_ylabel(plain(panel.label))
            right = self._right_axes(axes, panel)
            for series in panel.series:
                drawn = self._paint_series(right if series.right and right is not None else axes, series)
                handles += [] if series.faint or series.kind == "bars" else [drawn]
            if panel.from_zero:
                axes.set_ylim(bottom=0)
        rows[-1].set_xlabel(plain(self.spots.label))
        self._paint_ticks(rows[-1], canvas.get_figwidth())
        if len(handles) > 1:
            canvas.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9)

    def _right_axes(self, axes: Axes, panel: Panel) -> Axes | None:
        if not any(series.right for series in panel.series):
            return None
        right = axes.twinx()
        right.spines[["top", "left", "bottom", "right"]].set_visible(False)
        right.tick_params(colors=LIGHT.muted, labelsize=9)
        right.set_ylabel(plain(panel.right_label), color=LIGHT.ink)
        return right

    def _paint_series(self, axes: Axes, series: Series) -> Any:
        colour, x = class_colour(series.colour), self.spots.x
        if series.kind == "bars":
            return axes.bar(x, series.y, width=self.spots.widths, color=LIGHT.other, edgecolor="white", linewidth=0.5)
        strength = 0.3 if series.faint else 1.0
        if series.low is not None and series.high is not None:
            if series.kind == "points":
                axes.vlines(x, series.low, series.high, color=colour, alpha=0.6, linewidth=1.5)
            elif series.faint or self.has_bands:
                axes.fill_between(x, series.low, series.high, color=colour, alpha=0.15, linewidth=0)
        style = "none" if series.kind == "points" else "--" if series.right and not series.faint else "-"
        marker = "" if series.faint or len(x) > 60 else "o"
        width = 1.0 if series.faint else 1.8
        options: dict[str, Any] = {
            "color": colour,
            "alpha": strength,
            "linewidth": width,
            "linestyle": style,
            "markersize": 4.5,
        }
        return axes.plot(x, series.y, marker=marker, label=plain(series.name, 24), **options)[0]

    def _paint_ticks(self, axes: Axes, wide: float) -> None:
        if not self.spots.named:
            return
        step = max(1, math.ceil(len(self.spots.x) / (wide * 4)))
        shown = [plain(text, 18) for text in self.spots.texts[::step]]
        turned = sum(len(text) for text in shown) > wide * 9
        axes.set_xticks(self.spots.x[::step], shown, rotation=40 if turned else 0, ha="right" if turned else "center")

    def body(self) -> str:
        """Return the place of the drawing, and the same numbers as a table."""
        named = [one for panel in self.panels for one in panel.series if not one.faint]
        heads = "".join(f'<th scope="col">{escape(clean(one.name))}</th>' for one in named)
        lines = []
        for place, text in enumerate(self.spots.texts[:MOST_ROWS]):
            cells = "".join(f"<td>{_with_interval(one, place)}</td>" for one in named)
            lines.append(f'<tr><th scope="row">{escape(clean(text))}</th>{cells}</tr>')
        more = len(self.spots.texts) - MOST_ROWS
        cut = f"<p>The first {MOST_ROWS} rows of {len(self.spots.texts):,}.</p>" if more > 0 else ""
        return (
            '<div class="chart" id="chart"></div><noscript><p>The chart is drawn by a script, and scripts are switched '
            'off here; the table has its numbers.</p></noscript><details class="data"><summary>The numbers as a table'
            f'</summary><div class="scroll" tabindex="0" role="region" aria-label="Numbers"><table><thead><tr>'
            f'<th scope="col">{escape(clean(self.spots.label))}</th>{heads}</tr></thead>'
            f"<tbody>{''.join(lines)}</tbody></table></div>{cut}</details>"
        )

    def data(self) -> dict[str, Any]:
        """Return spots and panels as JSON, None for NaN."""
        spots = asdict(self.spots)
        panels = [
            {
                "label": panel.label,
                "rightLabel": panel.right_label,
                "share": panel.share,
                "fromZero": panel.from_zero,
                "series": [_series_data(one) for one in panel.series],
            }
            for panel in self.panels
        ]
        bars = {"light": LIGHT.other, "dark": DARK.other}
        return {"spots": spots, "panels": panels, "bands": self.has_bands, "colours": CLASS_COLOURS, "bars": bars}


def _with_interval(series: Series, place: int) -> str:
    value = number(series.y[place])
    if series.low is None or series.high is None or not math.isfinite(series.low[place]):
        return value
    return f"{value} ({number(series.low[place])} to {number(series.high[place])})"


def _series_data(series: Series) -> dict[str, Any]:
    numbers = {"y": _nullable(series.y), "low": _nullable(series.low), "high": _nullable(series.high)}
    return {**asdict(series), **numbers}


def _nullable(values: Numbers | None) -> list[float | None] | None:
    return None if values is None else [value if math.isfinite(value) else None for value in values]
