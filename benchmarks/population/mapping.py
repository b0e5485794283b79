"""Measures maps: ours, umap-learn's and PaCMAP's take turns, each in a cold process, and all are judged alike."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.asking import ask
from benchmarks.cases import OURS
from benchmarks.population.judging import trustworthiness
from benchmarks.population.prepared import Prepared
from benchmarks.results import Answer

__all__ = ["PEERS", "measure_maps"]

PEERS = ("umap-learn", "pacmap")
PREVIEWS = 5
# So few samples make PaCMAP compile all that it does.
COMPILED_ON = 2000


class Maps:
    """Makes maps and collects their times and positions; `failed` says why a tool has none."""

    def __init__(self, prepared: Prepared, scratch: Path, say: Any) -> None:
        self._prepared, self._scratch, self._say = prepared, scratch, say
        self.answers: dict[str, list[Answer]] = {}
        self.positions: dict[str, list[Any]] = {}
        self.failed: dict[str, str] = {}

    def make(self, tool: str, key: str | None = None, **job: Any) -> None:
        """Make a map in a cold process, and keep what it says under `key`; of only some `rows`, keep nothing."""
        key = key or tool
        if tool in self.failed:
            return
        worker = "map_ours" if tool == OURS else "map_peers"
        latents, positions = self._prepared.folder / "latents_2.npy", self._scratch / "positions.npy"
        full = {"tool": tool, "latents": str(latents), "positions": str(positions), "threads": os.cpu_count(), **job}
        full["started"] = time.monotonic()
        found = ask(f"benchmarks.population.{worker}", full, self._scratch, key, self._say)
        if isinstance(found, str):
            self.failed[tool] = found
            return
        if "rows" not in job:
            self.answers.setdefault(key, []).append(found)
            self.positions.setdefault(key, []).append(np.load(positions))


def measure_maps(prepared: Prepared, scratch: Path, say: Any, *, repeats: int, peers: bool) -> Answer:
    """Times and trustworthiness of each tool; tools that could not be asked are in `failed`, with the reason."""
    maps = Maps(prepared, scratch, say)
    kept = {tool: scratch / f"compiled-{tool}" for tool in PEERS}
    tools = (OURS, *PEERS) if peers else (OURS,)
    if peers:
        # Makes the environment, and the code that PaCMAP compiles only once.
        maps.make("pacmap", "compiling", compiled=str(kept["pacmap"]), twice=False, rows=COMPILED_ON)
    for repeat in range(repeats):
        # Each is first in turn: a machine that slows down or speeds up favours nobody.
        for tool in tools[repeat % len(tools) :] + tools[: repeat % len(tools)]:
            if tool == OURS:
                maps.make(OURS, method="umap")
                continue
            if tool == "umap-learn":
                shutil.rmtree(kept[tool], ignore_errors=True)
            # PaCMAP's second map is held to no bar: once is enough.
            maps.make(tool, compiled=str(kept[tool]), twice=tool == "umap-learn" or repeat == 0)
    if peers:
        maps.make("umap-learn", "umap-learn later", compiled=str(kept["umap-learn"]), twice=False)
    for _ in range(PREVIEWS):
        maps.make(OURS, "preview", method="pca")
    return {"answers": maps.answers, "trust": _judged(prepared, maps), "failed": maps.failed}


def _judged(prepared: Prepared, maps: Maps) -> dict[str, list[float]]:
    names = [(tool, number) for tool, some in maps.positions.items() for number in range(len(some))]
    finite = [name for name in names if np.isfinite(maps.positions[name[0]][name[1]]).all()]
    found = trustworthiness(prepared.array("latents_2"), [maps.positions[tool][number] for tool, number in finite])
    by_map = dict(zip(finite, found, strict=True))
    # A map with holes is no map.
    return {tool: [by_map.get((tool, i), 0.0) for i in range(len(some))] for tool, some in maps.positions.items()}
