"""Measures the map of points beside another one: the same points on the same page, in turn. Plain numbers, no bars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.studio.browsing import Browsing
from benchmarks.studio.map_page import build_map_page
from benchmarks.studio.servers import serve_folder

__all__ = ["measure_map"]

Answer = dict[str, Any]
READY = "() => window.bench !== undefined"
WARMING = 1


def measure_map(browsing: Browsing, scratch: Path, turns: int, counts: tuple[int, ...]) -> Answer:
    """Milliseconds until points are painted and until a tenth is selected, and what a lasso around many takes."""
    with serve_folder(build_map_page(scratch / "page")) as server:
        sizes = {count: _in_turn(browsing, server.url, count, turns) for count in counts}
        with browsing.visit(server.url, READY) as (page, _):
            ask = f"() => window.bench.lasso({max(counts)})"
            lasso = [page.evaluate(ask)["milliseconds"] for _ in range(turns + WARMING)][WARMING:]
    return {"sizes": sizes, "lasso": lasso, "lasso_points": max(counts)}


def _in_turn(browsing: Browsing, url: str, count: int, turns: int) -> Answer:
    """One map after the other, each on a page of its own; who goes first changes with every turn.

    `card` is ours with every point drawn by WebGL, also where there is no graphics card.
    """
    found: dict[str, list[dict[str, float]]] = {"ours": [], "theirs": [], "card": []}
    for turn in range(turns + WARMING):
        for name in sorted(found, reverse=turn % 2 == 1):
            with browsing.visit(url, READY) as (page, _):
                said = page.evaluate(f"() => window.bench.measure({json.dumps(name)}, {count})")
            if turn >= WARMING:
                found[name].append(said)
    moving = max(int(one["moving"]) for one in found["ours"])
    kinds = ("painted", "filtered")
    times = {name: {kind: [one[kind] for one in all_] for kind in kinds} for name, all_ in found.items()}
    return {**times, "moving": moving}
