"""`Figure`: something drawn, as PNG, as a page and in a notebook. Knows no data: its content draws itself."""

from __future__ import annotations

import io
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cutaway.analysis.figures.page import make_page
from cutaway.analysis.libraries import library
from cutaway.errors import ConfigurationError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["Content", "Figure"]

DOTS_PER_INCH = 100
# Below, there is no room for a title and axes; above, one picture takes gigabytes.
SMALLEST, LARGEST = 100, 20_000


class Content(Protocol):
    """What a figure shows, as frozen values that can be drawn in two ways.

    `paint` draws on an empty matplotlib figure. `body` is HTML with every text escaped; `data`, where it is not None,
    is what can be written as JSON and is handed to `scripts`, names of files among the assets, in the page. Where the
    HTML says it all there are neither.
    """

    @property
    def scripts(self) -> tuple[str, ...]:
        """The scripts that bring the page to life."""
        return ()

    def paint(self, canvas: Canvas) -> None:
        """Draw on a figure of matplotlib that has a title and a caption already."""
        ...

    def body(self) -> str:
        """Return the HTML between the title and the caption."""
        ...

    def data(self) -> dict[str, Any] | None:
        """Return what the scripts draw."""
        return None


@dataclass(frozen=True)
class Figure:
    """Something drawn. In a notebook it shows itself; `png`, `html` and `save` write it.

    `caption` says in words what is seen and what was left out; it stands below the drawing and is its text
    alternative. The HTML is one file that loads nothing else, follows the reader's light or dark theme, and can be
    used with the keyboard alone.
    """

    title: str
    caption: str
    content: Content
    width: int = 1000
    height: int = 750

    def png(self, path: str | Path | None = None, *, width: int | None = None, height: int | None = None) -> bytes:
        """Return the figure as PNG of `width` times `height` pixels, and write it where `path` says."""
        wide, high = width or self.width, height or self.height
        if not (SMALLEST <= wide <= LARGEST and SMALLEST <= high <= LARGEST):
            raise ConfigurationError(
                f"`{SMALLEST} <= width, height <= {LARGEST}` must hold, but got width={wide}, height={high}."
            )
        drawn = self._painted(wide, high)
        if path is not None:
            Path(path).write_bytes(drawn)
        return drawn

    def html(self, path: str | Path | None = None) -> str:
        """Return the figure as one page of HTML, and write it where `path` says."""
        page = make_page(self.title, self.caption, self.content.body(), self.content.data(), self.content.scripts)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8", newline="\n")
        return page

    def save(self, path: str | Path) -> Path:
        """Write the figure as what the suffix of `path` says, .png or .html, and return the path."""
        to = Path(path)
        suffix = to.suffix.lower()
        if suffix == ".png":
            self.png(to)
        elif suffix in (".html", ".htm"):
            self.html(to)
        else:
            raise ConfigurationError(f"A figure is written as .png or .html, but got {to.name!r}.")
        return to

    def _repr_html_(self) -> str:
        # A frame of its own: figures in one notebook share neither names nor styles, and a sandbox keeps what samples
        # are called away from the notebook.
        return (
            f'<iframe sandbox="allow-scripts" width="100%" height="{self.height + 60}" '
            f'title="{escape(self.title or "Figure")}" style="border:0" srcdoc="{escape(self.html())}"></iframe>'
        )

    def _repr_png_(self) -> bytes | None:
        try:
            return self.png()
        except MissingExtraError:
            return None  # the page needs no matplotlib, and a notebook shows that

    def _painted(self, width: int, height: int) -> bytes:
        backend = library("matplotlib.backends.backend_agg", "Drawing a figure as PNG")
        from matplotlib.figure import Figure as Canvas

        from cutaway.analysis.figures.painting import frame

        inches = (width / DOTS_PER_INCH, height / DOTS_PER_INCH)
        canvas = Canvas(figsize=inches, dpi=DOTS_PER_INCH, layout="constrained", facecolor="white")
        agg = backend.FigureCanvasAgg(canvas)
        frame(canvas, self.title, self.caption)
        self.content.paint(canvas)
        written = io.BytesIO()
        # Without the version of matplotlib, so that the same figure is the same bytes.
        agg.print_png(written, metadata={"Software": None})
        return written.getvalue()
