"""Heat maps that are kept in a run: the same question about the same sample is answered at once."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from cutaway.analysis.heat_maps.values import HeatMap, Sanity
from cutaway.arrays import Array
from cutaway.run.analyses import AnalysisName, read_arrays, write_arrays
from cutaway.run.evaluations import Evaluation

__all__ = ["read_heat_maps", "write_heat_maps"]


def write_heat_maps(evaluation: Evaluation, subset: str, key: str, maps: tuple[HeatMap, ...]) -> None:
    """Keep the maps of one sample under the key of what was asked."""
    arrays: dict[str, Array] = {}
    told = []
    for number, one in enumerate(maps):
        arrays[f"values.{number}"] = one.values
        if one.attribution is not None:
            arrays[f"attribution.{number}"] = one.attribution
        about = {field.name: getattr(one, field.name) for field in fields(one)}
        plain = {name: value for name, value in about.items() if name not in ("values", "attribution", "sanity")}
        told.append({**plain, "sanity": None if one.sanity is None else asdict(one.sanity)})
    write_arrays(evaluation, _name(subset, key), arrays, {"key": key, "maps": told})


def read_heat_maps(evaluation: Evaluation, subset: str, key: str) -> tuple[HeatMap, ...] | None:
    """Return the maps that were kept under a key; None where there are none."""
    held = read_arrays(evaluation, _name(subset, key), key)
    if held is None:
        return None
    arrays, about = held
    try:
        return tuple(_map(arrays, number, dict(told)) for number, told in enumerate(about["maps"])) or None
    except (KeyError, TypeError, ValueError):
        # Written by another version, or damaged: it is made anew.
        return None


def _map(arrays: dict[str, Array], number: int, told: dict[str, Any]) -> HeatMap:
    sanity = told.pop("sanity")
    values = np.asarray(arrays[f"values.{number}"], np.float32)
    named = all(isinstance(told[name], str) for name in ("method", "input", "output"))
    if not named or not isinstance(told["score"], float) or not values.ndim:
        raise ValueError(f"map {number} is none")
    figures = None
    if sanity is not None:
        figures = Sanity(**{**sanity, "random": tuple(sanity["random"]), "notes": tuple(sanity["notes"])})
    return HeatMap(
        **{**told, "notes": tuple(told["notes"])},
        values=values,
        attribution=arrays.get(f"attribution.{number}"),
        sanity=figures,
    )


def _name(subset: str, key: str) -> AnalysisName:
    return AnalysisName(subset, f"heat_maps_{key[:16]}")
