"""Measures what alignment keeps and costs, and how well new samples are placed."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.population.judging import kept_share, label_accuracy, trustworthiness
from benchmarks.population.prepared import Prepared
from cutaway.analysis.mapping import PreviousMap, make_map, place

__all__ = ["measure_alignment"]

NEIGHBOURS = 15
# A sample that kept this share of its neighbours may move this share of the earlier map's width.
KEPT, MOVED = 0.5, 0.02


def measure_alignment(job: dict[str, Any], prepared: Prepared) -> dict[str, Any]:
    """Maps of the two epochs, aligned and not, for some seeds; the neighbours that decide are exact."""
    first, second, test = (prepared.array(name) for name in ("latents_1", "latents_2", "test_2"))
    labels, test_labels = prepared.array("labels"), prepared.array("test_labels")
    kept = kept_share(_neighbours(first), _neighbours(second)) >= KEPT
    found: dict[str, list[float]] = {
        name: [] for name in ("stayed", "unaligned", "free", "aligned", "placed", "fitted")
    }
    for seed in range(job["seeds"]):
        earlier = make_map(first, seed=seed).positions
        free = make_map(second, seed=seed).positions
        aligned = make_map(second, seed=seed, previous=PreviousMap(first, earlier)).positions
        found["stayed"].append(_stayed(earlier, aligned, kept))
        found["unaligned"].append(_stayed(earlier, free, kept))
        trust = trustworthiness(second, [free, aligned])
        found["free"].append(trust[0])
        found["aligned"].append(trust[1])
        placed = place(test, second, free)
        joint = make_map(np.concatenate([second, test]), seed=seed).positions
        found["placed"].append(label_accuracy(free, labels, placed, test_labels))
        found["fitted"].append(label_accuracy(joint[: len(second)], labels, joint[len(second) :], test_labels))
    return {**found, "samples": len(first), "kept": int(kept.sum()), "new": len(test)}


def _stayed(before: Any, now: Any, kept: Any) -> float:
    """Which share of the samples that kept their neighbours kept their place."""
    width = float(np.ptp(before, axis=0).max())
    moved = np.linalg.norm(now - before, axis=1)
    return float((moved[kept] <= MOVED * width).mean())


def _neighbours(vectors: Any) -> Any:
    """The neighbours of each row, every row compared."""
    import faiss

    found = faiss.knn(vectors, vectors, NEIGHBOURS + 1)[1]
    # The row itself leaves; where equal rows crowd it out, the last one does.
    own = found == np.arange(len(vectors))[:, None]
    own[:, -1] |= ~own.any(axis=1)
    return found[~own].reshape(len(vectors), NEIGHBOURS)
