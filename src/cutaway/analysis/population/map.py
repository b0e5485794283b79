"""The map of a population: kept where it comes from a run, and aligned to the map of the run's last evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.mapping import Map, PreviousMap, make_map, trustworthiness
from cutaway.analysis.population.applicability import no_vector
from cutaway.analysis.samples import SAMPLE, Samples
from cutaway.analysis.samples.origin import Origin
from cutaway.arrays import Float32Array
from cutaway.errors import AnalysisUnavailable, EvaluationError
from cutaway.evaluation.progress import Listener
from cutaway.run.analyses import KeptTable, read_table
from cutaway.run.evaluated.kept import is_map, map_kind, map_positions

__all__ = ["population_map"]


def population_map(
    samples: Samples,
    origin: Origin | None,
    *,
    method: str,
    seed: int,
    neighbours: int,
    device: str | None,
    progress: Listener | None,
    align: bool = True,
) -> Map:
    """Return the map of some samples: the one that was kept, or a new one, which is kept."""
    reason = no_vector(samples)
    if reason:
        raise AnalysisUnavailable("map", f"{reason}.")
    kind = map_kind(method)
    if origin is None:
        return make_map(
            samples.latents, method=method, seed=seed, neighbours=neighbours, device=device, progress=progress
        )
    before = _last_map(origin, kind) if align and method == "umap" else None
    settings = {
        "method": method,
        "seed": seed,
        "neighbours": neighbours,
        "after": None if before is None else before[1].about.get("key"),
    }
    held = origin.kept(kind, settings)
    if held is not None:
        found = _read(held, samples, method, seed)
        if found is not None:
            return found
    notes: list[str] = []
    made = make_map(
        samples.latents,
        method=method,
        seed=seed,
        neighbours=neighbours,
        previous=_aligned(before, samples, notes),
        device=device,
        progress=progress,
    )
    notes = [*made.notes, *notes]
    trust = _trust(samples, made, notes, progress)
    return _keep(origin, kind, settings, samples, Map(made.positions, method, seed, trust, tuple(notes)))


def _aligned(before: tuple[Origin, KeptTable] | None, samples: Samples, notes: list[str]) -> PreviousMap | None:
    """Return the map to align to, and note which; damage in an earlier evaluation is no reason to make no map here."""
    if before is None:
        return None
    number = before[0].evaluation.number
    try:
        previous = _previous(before, samples)
    except EvaluationError as error:
        notes.append(f"Not aligned to the map of evaluation {number}: {error}")
        return None
    notes.append(f"Aligned to the map of evaluation {number}.")
    return previous


def _trust(samples: Samples, made: Map, notes: list[str], progress: Listener | None) -> float | None:
    """Return how far the map can be trusted; None, with a note, where there are too few samples to say it."""
    try:
        return trustworthiness(samples.latents, made.positions, seed=0, progress=progress)
    except AnalysisUnavailable as error:
        notes.append(str(error))
        return None


def _keep(origin: Origin, kind: str, settings: dict[str, Any], samples: Samples, made: Map) -> Map:
    table = pa.table({SAMPLE: samples.ids, "x": made.positions[:, 0], "y": made.positions[:, 1]})
    origin.keep(kind, settings, table, made.notes, trustworthiness=made.trustworthiness)
    return made


def _read(held: KeptTable, samples: Samples, method: str, seed: int) -> Map | None:
    """Return a map that was kept; None where it is not a map of these samples, and is made anew."""
    trust, notes = held.about.get("trustworthiness"), held.about.get("notes")
    if not is_map(held.table) or held.table[SAMPLE].to_pylist() != samples.ids or not isinstance(notes, list):
        return None
    positions = map_positions(held.table)
    if not np.array_equal(np.isfinite(positions).all(axis=1), samples.finite):
        return None
    known = float(trust) if isinstance(trust, float) and np.isfinite(trust) else None
    return Map(positions, method, seed, known, tuple(str(one) for one in notes))


def _last_map(origin: Origin, kind: str) -> tuple[Origin, KeptTable] | None:
    """Return the newest earlier evaluation of the run that has such a map, and the map."""
    for earlier in reversed(origin.earlier()):
        held = read_table(earlier.evaluation, earlier.name(kind))
        if held is not None and is_map(held.table):
            return earlier, held
    return None


def _previous(before: tuple[Origin, KeptTable], samples: Samples) -> PreviousMap:
    """Return the last map in the order of these samples, NaN for those that it lacks."""
    earlier, held = before
    rows = {name: row for row, name in enumerate(held.table[SAMPLE].to_pylist())}
    latents = _latents(earlier, held.table[SAMPLE].to_pylist())
    order = np.array([rows.get(name, -1) for name in samples.ids])
    known = order >= 0
    positions = np.full((len(samples), 2), np.nan, np.float32)
    positions[known] = map_positions(held.table)[order[known]]
    vectors = np.full((len(samples), latents.shape[1]), np.nan, np.float32)
    vectors[known] = latents[order[known]]
    return PreviousMap(vectors, positions)


def _latents(earlier: Origin, ids: Sequence[str]) -> Float32Array:
    """Return the latent vectors of an earlier evaluation in the order of its map; NaN for ids that it lacks now."""
    whole, names = earlier.latents(), earlier.ids().to_pylist()
    if len(names) != len(whole):
        raise EvaluationError(f"it has {len(whole):,} latent vectors for {len(names):,} samples.")
    if names == list(ids):
        return whole
    rows = {name: row for row, name in enumerate(names)}
    found = np.full((len(ids), whole.shape[1]), np.nan, np.float32)
    for i, name in enumerate(ids):
        if name in rows:
            found[i] = whole[rows[name]]
    return found
