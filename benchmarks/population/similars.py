"""Measures the search of neighbours beside faiss's own, and looks for the fours that are read as nines."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.population.judging import recall
from benchmarks.population.prepared import Prepared, add_large
from benchmarks.population.timing import in_turn
from cutaway.analysis import Population
from cutaway.analysis.neighbours import Index, build_index

__all__ = ["measure_closed_fours", "measure_exact", "measure_large"]

NEAREST = 10
SIMILAR = 20
FOUR, NINE = 4, 9
# A neighbour that is farther than it should be by more than this share was not the nearest.
ROUNDING = 1e-5


def measure_exact(job: dict[str, Any], prepared: Prepared) -> dict[str, Any]:
    """One query at a time and many at once, over vectors of which each is compared."""
    import faiss

    if job["array"] == "large":
        add_large(prepared)
    vectors = np.array(prepared.array(job["array"], mapped=True)[: job["rows"]])
    queries = prepared.array("test_2")
    ours, flat = build_index(vectors), faiss.IndexFlatL2(vectors.shape[1])
    flat.add(vectors)
    batch = queries[: job["batch"]]
    asked = {who: iter(np.tile(queries, (2, 1))[:, None]) for who in ("ours", "flat")}
    single = in_turn(
        {
            "ours": lambda: ours.search(next(asked["ours"]), NEAREST),
            "flat": lambda: flat.search(next(asked["flat"]), NEAREST),
        },
        job["singles"],
    )
    many = {"ours": lambda: ours.search(batch, NEAREST), "flat": lambda: flat.search(batch, NEAREST)}
    batches = in_turn(many, job["batches"])
    wrong = _farther(vectors, batch, ours.search(batch, NEAREST).indices, flat.search(batch, NEAREST)[1])
    return {
        "single": single,
        "batch": batches,
        "rows": len(vectors),
        "queries": len(batch),
        "exact": ours.exact,
        "wrong": wrong,
    }


def measure_large(job: dict[str, Any], prepared: Prepared) -> dict[str, Any]:
    """An index over the large set: its building, what it finds, and how long that takes."""
    import faiss

    add_large(prepared)
    vectors, queries = prepared.array("large"), prepared.array("queries")
    begin = time.perf_counter()
    ours = build_index(vectors, exact=False if job["force"] else None)
    built = time.perf_counter() - begin
    flat = faiss.IndexFlatL2(vectors.shape[1])
    flat.add(vectors)
    wanted = flat.search(queries, NEAREST)[1]
    found = ours.search(queries, NEAREST).indices
    single = _singles(ours, flat, queries, job["singles"])
    return {
        "built": built,
        "rows": len(vectors),
        "queries": len(queries),
        "recall": recall(found, wanted),
        "stated": ours.recall,
        "exact": ours.exact,
        "notes": list(ours.notes),
        **single,
    }


def _singles(ours: Index, flat: Any, queries: Any, turns: int) -> dict[str, Any]:
    """One query at a time; after each flat search a few of ours, of other queries, since its cost differs by query."""
    each = 10
    ours.search(queries[:1], NEAREST)
    flat.search(queries[:1], NEAREST)
    quick: list[float] = []
    slow: list[float] = []
    for turn in range(turns):
        begin = time.perf_counter()
        flat.search(queries[turn : turn + 1], NEAREST)
        slow.append(time.perf_counter() - begin)
        for number in range(turn * each, (turn + 1) * each):
            at = number % len(queries)
            begin = time.perf_counter()
            ours.search(queries[at : at + 1], NEAREST)
            quick.append(time.perf_counter() - begin)
    return {"single": quick, "flat": slow}


def measure_closed_fours(job: dict[str, Any], prepared: Prepared) -> dict[str, Any]:  # noqa: ARG001 - as all tasks
    """The fours that the network reads as nines, each with the labels of the samples that are most similar to it."""
    latents = np.concatenate([prepared.array("latents_2"), prepared.array("test_2")])
    labels = np.concatenate([prepared.array("labels"), prepared.array("test_labels")])
    probabilities = np.concatenate([prepared.array("latents_probabilities"), prepared.array("test_probabilities")])
    population = Population.from_arrays(latents, labels=labels, probabilities=probabilities)
    rows = np.flatnonzero((labels == FOUR) & (probabilities.argmax(axis=1) == NINE))
    found = [{"row": int(row), "counts": population.find_similar(int(row), SIMILAR).counts} for row in rows]
    return {"samples": len(latents), "fours": found, "similar": SIMILAR}


def _farther(vectors: Any, queries: Any, found: Any, wanted: Any) -> int:
    """How many queries have a neighbour that is farther than the one that faiss has in its place."""
    if (found < 0).any():
        return len(queries)
    exact = queries[:, None].astype(np.float64)
    ours, theirs = (np.linalg.norm(exact - vectors[rows], axis=2) for rows in (found, wanted))
    return int((np.sort(ours, axis=1) > np.sort(theirs, axis=1) * (1 + ROUNDING)).any(axis=1).sum())
