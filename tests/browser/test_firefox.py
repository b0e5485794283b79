"""A smoke test in Firefox, where one is installed: every kind of picture that the page draws is drawn there too."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.rules_run import write_long_run
from benchmarks.studio import conditions
from cutaway.studio.serving.server import Served, serve_in_thread
from cutaway.studio.the_studio import Studio
from tests.browser.firefox import Firefox, installed_firefox, open_firefox

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("firefox-runs")
    write_long_run(folder / "runs" / "long", 200)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        with serve_in_thread(Studio.open(folder / "runs")) as found:
            yield found


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    program = installed_firefox()
    with open_firefox(program, tmp_path_factory.mktemp("firefox")) as found:
        yield found


@pytest.fixture(scope="module")
def run(served: Served, firefox: Firefox) -> str:
    firefox.open(f"{served.url}/runs")
    firefox.wait_for("document.querySelectorAll('tr[data-index] a').length === 1")
    return str(firefox.evaluate("document.querySelector('tr[data-index] a').href"))


def test_a_curve_is_drawn(firefox: Firefox, run: str) -> None:
    firefox.open(run)
    firefox.wait_for(f"({conditions.CURVE})()")
    assert firefox.errors == []


def test_the_stripes_are_drawn(firefox: Firefox, run: str) -> None:
    firefox.open(f"{run}/tensors")
    firefox.wait_for(f"({conditions.STRIPES})()")
    assert firefox.errors == []


def test_the_page_is_live(firefox: Firefox, run: str) -> None:
    firefox.open(run)
    firefox.wait_for("document.querySelector('header [role=status]').textContent.includes('Live')")


def test_a_key_switches_the_theme(firefox: Firefox, run: str, tmp_path: Path) -> None:
    firefox.open(run)
    firefox.wait_for("document.querySelector('h1') !== null")
    before = brightness(firefox.screenshot())
    was = firefox.evaluate("document.documentElement.dataset.theme")
    firefox.press("d")
    firefox.wait_for(f"document.documentElement.dataset.theme !== {was!r}")
    after = brightness(firefox.screenshot())
    assert (after < before) is (was == "light")


def brightness(png: bytes) -> float:
    with Image.open(io.BytesIO(png)) as image:
        return float(np.asarray(image.convert("L")).mean())
