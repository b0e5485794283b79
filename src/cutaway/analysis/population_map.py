"""The map of a population: kept where it comes from a run, and aligned to the map of the run's last evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.mapping import Map, PreviousMap, make_map, trustworthiness
from cutaway.analysis.origin import Origin
from cutaway.analysis.samples import SAMPLE, Floats, Samples
from cutaway.evaluation.progress import Listener
from cutaway.run.analyses import KeptTable, read_table

__all__ = ["MAP", "population_map"]

# What the table of a map is called; those of other methods have the method's name.
MAP = "map"


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
    kind = MAP if method == "umap" else method
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
        found = _read(held, samples)
        if found is not None:
            return found
    made = make_map(
        samples.latents,
        method=method,
        seed=seed,
        neighbours=neighbours,
        previous=None if before is None else _previous(before, samples),
        device=device,
        progress=progress,
    )
    trust = trustworthiness(samples.latents, made.positions, seed=0)
    notes = list(made.notes)
    if before is not None:
        notes.append(f"Aligned to the map of evaluation {before[0].evaluation.number}.")
    return _keep(origin, kind, settings, samples, Map(made.positions, method, seed, trust, tuple(notes)))


def _keep(origin: Origin, kind: str, settings: dict[str, Any], samples: Samples, made: Map) -> Map:
    table = pa.table({SAMPLE: samples.ids, "x": made.positions[:, 0], "y": made.positions[:, 1]})
    origin.keep(kind, settings, table, made.notes, trustworthiness=made.trustworthiness)
    return made


def _read(held: KeptTable, samples: Samples) -> Map | None:
    if held.table[SAMPLE].to_pylist() != samples.ids:
        return None
    about = held.about
    settings = about.get("settings", {})
    trust = about.get("trustworthiness")
    return Map(
        _positions(held.table), settings["method"], settings["seed"], trust, tuple(str(one) for one in about["notes"])
    )


def _positions(table: pa.Table) -> Floats:
    return np.stack([np.asarray(table[axis].to_numpy(), np.float32) for axis in ("x", "y")], axis=1)


def _last_map(origin: Origin, kind: str) -> tuple[Origin, KeptTable] | None:
    """Return the newest earlier evaluation of the run that has such a map, and the map."""
    for earlier in reversed(origin.earlier()):
        held = read_table(earlier.evaluation, earlier.name(kind))
        if held is not None and held.table.column_names == [SAMPLE, "x", "y"]:
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
    positions[known] = _positions(held.table)[order[known]]
    vectors = np.full((len(samples), latents.shape[1]), np.nan, np.float32)
    vectors[known] = latents[order[known]]
    return PreviousMap(vectors, positions)


def _latents(earlier: Origin, ids: Sequence[str]) -> Floats:
    """Return the latent vectors of an earlier evaluation in the order of its map; NaN for ids that it lacks now."""
    arrays = [earlier.evaluation.latents(subset, earlier.space) for subset in earlier.subsets]
    names = [str(name) for one in earlier.subsets for name in earlier.evaluation.table(one, ["id"])["id"].to_pylist()]
    whole = np.concatenate(arrays)
    if names == list(ids):
        return whole
    rows = {name: row for row, name in enumerate(names)}
    found = np.full((len(ids), whole.shape[1]), np.nan, np.float32)
    for i, name in enumerate(ids):
        if name in rows:
            found[i] = whole[rows[name]]
    return found
