"""A figure as PNG, as a page, in a notebook and as a file."""

import io
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from cutaway.analysis.figures import Figure
from cutaway.errors import ConfigurationError, MissingExtraError
from tests.unit.analysis.figures.made import KINDS, every_figure

FIGURES = every_figure()


@pytest.fixture(params=KINDS)
def figure(request: pytest.FixtureRequest) -> Figure:
    return FIGURES[request.param]


def test_a_png_has_the_size_that_was_asked_for(figure: Figure) -> None:
    with Image.open(io.BytesIO(figure.png(width=640, height=480))) as opened:
        opened.load()
        assert (opened.format, opened.size) == ("PNG", (640, 480))


def test_a_png_shows_something_in_colour(figure: Figure) -> None:
    with Image.open(io.BytesIO(figure.png())) as opened:
        assert opened.size == (figure.width, figure.height)
        assert len(opened.convert("RGB").getcolors(1 << 24) or ()) > 20


def test_the_same_figure_is_the_same_bytes() -> None:
    again = every_figure()
    for kind in KINDS:
        assert FIGURES[kind].html() == again[kind].html()
    for kind in ("map", "curve", "similar"):
        assert FIGURES[kind].png(width=400, height=300) == again[kind].png(width=400, height=300)


def test_a_figure_is_written_as_its_suffix_says(tmp_path: Path) -> None:
    figure = FIGURES["confusion"]
    assert figure.save(tmp_path / "a.PNG").read_bytes() == figure.png()
    assert figure.save(str(tmp_path / "a.html")).read_text(encoding="utf-8") == figure.html()
    figure.png(tmp_path / "b.png")
    figure.html(tmp_path / "b.html")
    assert (tmp_path / "b.png").read_bytes() == (tmp_path / "a.PNG").read_bytes()
    assert (tmp_path / "b.html").read_bytes() == (tmp_path / "a.html").read_bytes()


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"as \.png or \.html, but got 'a\.gif'"):
        FIGURES["map"].save(tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [{"width": 5}, {"height": 100_000}])
def test_a_size_that_cannot_be_drawn_is_refused(size: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError, match="must hold, but got"):
        FIGURES["map"].png(**size)


class _Frames(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.frames: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "iframe"
        self.frames.append(dict(attrs))


def test_a_notebook_shows_the_page_in_a_frame_that_reaches_nothing(figure: Figure) -> None:
    reader = _Frames()
    reader.feed(figure._repr_html_())
    (frame,) = reader.frames
    assert frame["sandbox"] == "allow-scripts"
    assert frame["srcdoc"] == figure.html()


def test_a_notebook_that_shows_no_html_shows_the_png() -> None:
    assert FIGURES["curve"]._repr_png_() == FIGURES["curve"].png()


def test_without_matplotlib_there_are_still_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingExtraError, match="analysis"):
        FIGURES["map"].png()
    assert FIGURES["map"]._repr_png_() is None
    assert "</html>" in FIGURES["map"].html()


def test_drawing_leaves_no_state_behind() -> None:
    code = (
        "import sys, numpy as np\n"
        "from cutaway.analysis.figures import confusion_figure\n"
        "assert 'matplotlib' not in sys.modules\n"
        "figure = confusion_figure(np.eye(2, dtype=int), ['a', 'b'])\n"
        "figure.html()\n"
        "assert 'matplotlib' not in sys.modules\n"
        "import matplotlib\n"
        "figure.png()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert all(matplotlib.rcParams[key] == value"
        " for key, value in matplotlib.rcParamsOrig.items() if key != 'backend')\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
