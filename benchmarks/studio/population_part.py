"""Measures the page of a population: its map until it is painted, a lasso, and what is drawn meanwhile. No bars."""

from __future__ import annotations

import math
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.studio.browsing import Browsing, PageFailed
from benchmarks.studio.made_population import made_population
from benchmarks.studio.parts import run_ids
from benchmarks.studio.servers import Server, serve_studio

__all__ = ["measure_population"]

Answer = dict[str, Any]
CANVAS = "document.querySelector('canvas[data-points]')"
# Every point was drawn, not only those that are drawn while something moves.
PAINTED = f"() => Number({CANVAS}.dataset.points) > 0 && {CANVAS}.dataset.drawn === {CANVAS}.dataset.points"
LASSOS = "performance.getEntriesByName('lasso').map((one) => one.duration)"
CORNERS = 40
PATIENCE = 60.0


def measure_population(browsing: Browsing, scratch: Path, turns: int, counts: tuple[int, ...]) -> Answer:
    """Milliseconds from the navigation until every point is painted, for a server just started and for a warm one."""
    sizes = {count: _one(browsing, scratch / str(count), turns, count) for count in counts}
    largest = max(counts)
    with serve_studio(scratch / str(largest) / "runs", scratch / "cache") as studio:
        address = f"{studio.url}/runs/{_listed(studio)}/population"
        with browsing.visit(address, PAINTED) as (page, _):
            lasso = [_lasso(page, turn) for turn in range(turns)]
        with browsing.visit(f"{address}?tool=pan", PAINTED) as (page, _):
            moving = _drawn_while_moving(page)
    return {"sizes": sizes, "lasso": lasso, "lasso_points": largest, "moving": moving}


def _one(browsing: Browsing, folder: Path, turns: int, count: int) -> Answer:
    made_population(folder / "runs" / "made", count)
    cold, warm, memory_mb = [], [], 0.0
    for _ in range(max(1, turns // 3)):
        with serve_studio(folder / "runs", folder / "cache") as studio:
            address = f"{studio.url}/runs/{_listed(studio)}/population"
            cold.append(browsing.milliseconds(address, PAINTED))
            warm += [browsing.milliseconds(address, PAINTED) for _ in range(3)]
            memory_mb = max(memory_mb, studio.memory_mb())
    return {"cold": cold, "warm": warm, "memory_mb": memory_mb}


def _listed(studio: Server) -> str:
    """The id of the run, as soon as a studio that was just started lists it."""
    end = time.monotonic() + PATIENCE
    while not (found := run_ids(studio)):
        if time.monotonic() > end:
            raise RuntimeError("the studio lists no run")
        time.sleep(0.05)
    return found[0]


def _lasso(page: Any, turn: int) -> float:
    """Draw a lasso by the mouse, another one each time, and return what the page says that it took."""
    before = page.evaluate(f"{LASSOS}.length")
    box = page.locator("canvas[data-points]").bounding_box()
    middle = box["x"] + box["width"] * (0.4 + 0.02 * turn), box["y"] + box["height"] * (0.6 - 0.02 * turn)
    radius = min(box["width"], box["height"]) * (0.12 + 0.02 * turn)
    for corner in range(CORNERS):
        angle = 2 * math.pi * corner / CORNERS
        # Not a circle: a shape with bays, as a hand draws it.
        reach = radius * (1 + 0.3 * math.sin(3 * angle + turn))
        page.mouse.move(middle[0] + reach * math.cos(angle), middle[1] + reach * math.sin(angle))
        if corner == 0:
            page.mouse.down()
    page.mouse.up()
    end = time.monotonic() + PATIENCE
    while page.evaluate(f"{LASSOS}.length") == before:
        if time.monotonic() > end:
            raise PageFailed("a lasso was drawn, and the page did not take it")
        page.wait_for_timeout(20)
    # Until it is drawn as well: the next one begins on a page at rest.
    page.wait_for_timeout(300)
    return float(page.evaluate(f"{LASSOS}.at(-1)"))


def _drawn_while_moving(page: Any) -> int:
    """Drag the map, and return how many points a picture had meanwhile, by the median.

    Not the most: where the machine stalls the mouse rests for a moment, and everything is drawn.
    """
    # Columns that come after the map make it draw itself once more.
    page.wait_for_timeout(1500)
    page.evaluate(f"""() => {{
        window.__drawn = [];
        const canvas = {CANVAS};
        new MutationObserver(() => window.__drawn.push(Number(canvas.dataset.drawn))).observe(canvas, {{
          attributes: true, attributeFilter: ["data-frames"],
        }});
    }}""")
    box = page.locator("canvas[data-points]").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(30):
        page.mouse.move(x + 4 * step, y + 2 * step)
        page.wait_for_timeout(16)
    # Before the button is let go: at rest everything is drawn again.
    drawn = page.evaluate("window.__drawn")
    page.mouse.up()
    if not drawn:
        raise PageFailed("the map was dragged, and nothing was drawn")
    return int(statistics.median(drawn))
