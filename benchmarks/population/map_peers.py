"""Makes a peer's map twice in a process of its own: `python -m benchmarks.population.map_peers JOB RESULT`.

The first time is cold, with the clock running from the start of the process; the second is warm. `compiled` is the
folder in which numba keeps compiled code: an empty one makes the first map a first map on this machine.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> None:
    """Make the maps, write the first, and say how long each took."""
    job = json.loads(arguments[0])
    os.environ["NUMBA_CACHE_DIR"] = job["compiled"]
    import numpy as np

    make, version = MAKERS[job["tool"]]()
    latents = np.load(job["latents"])[: job.get("rows")]
    positions = np.asarray(make(latents), np.float32)
    np.save(job["positions"], positions)
    cold = time.monotonic() - job["started"]
    warm = None
    if job["twice"]:
        begin = time.perf_counter()
        make(latents)
        warm = time.perf_counter() - begin
    Path(arguments[1]).write_text(json.dumps({"cold": cold, "warm": warm, "version": version}))


def umap_learn() -> tuple[Any, str]:
    """With its defaults: 15 neighbours, all cores, no seed, since with a seed it uses one core."""
    import umap

    return lambda latents: umap.UMAP().fit_transform(latents), umap.__version__


def pacmap() -> tuple[Any, str]:
    """With its defaults, for the same reason without a seed."""
    from importlib.metadata import version

    import pacmap

    return lambda latents: pacmap.PaCMAP().fit_transform(latents), version("pacmap")


MAKERS = {"umap-learn": umap_learn, "pacmap": pacmap}

if __name__ == "__main__":
    main(sys.argv[1:])
