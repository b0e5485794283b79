"""Puts what a method found into one value a sample, and says in notes what is not finite. Asks no model."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion
from cutaway.analysis.heat_maps.values import HeatMap
from cutaway.arrays import BoolArray, Float32Array

__all__ = ["finished"]


def finished(asked: HeatMapQuestion, method: str, found: Found, baseline: str) -> tuple[HeatMap, ...]:
    """Return one `HeatMap` for each sample; `baseline` says in words what places were replaced by."""
    notes = tuple(note for note in (baseline, *found.notes) if note)
    values, told = _marked(asked, found)
    return tuple(
        HeatMap(
            values=values[i],
            method=method,
            input=asked.axes.name,
            output=asked.aim.output,
            target=None if found.targets is None else int(found.targets[i]),
            score=float(found.scores[i]),
            layer=found.layer,
            loss=asked.aim.loss,
            signed=found.signed,
            attribution=None if found.attributions is None else found.attributions[i],
            completeness=_complete(found, i),
            notes=(*notes, *_unchanged(found, i), *told[i]),
        )
        for i in range(asked.count)
    )


def _complete(found: Found, i: int) -> float | None:
    if found.completeness is None or np.isnan(found.completeness[i]):
        return None
    return float(found.completeness[i])


def _unchanged(found: Found, i: int) -> tuple[str, ...]:
    if found.completeness is None or _complete(found, i) is not None or not np.isfinite(found.scores[i]):
        return ()
    return ("The score of the baseline is that of the sample, so completeness cannot be told.",)


def _marked(asked: HeatMapQuestion, found: Found) -> tuple[Float32Array, list[tuple[str, ...]]]:
    """Return maps that are NaN where the input is not finite, and for each sample what is not finite, in words."""
    maps = np.asarray(found.maps, np.float32)
    unknown = ~np.isfinite(asked.values)
    if not unknown.any() and np.isfinite(maps).all() and np.isfinite(found.scores).all():
        return maps, [()] * asked.count
    over = unknown if asked.axes.channel is None else np.asarray(unknown.any(axis=asked.axes.channel))
    maps = np.where(over, np.float32(np.nan), maps)
    return maps, [_told(maps[i], over[i], float(found.scores[i])) for i in range(asked.count)]


def _told(values: Float32Array, over: BoolArray, score: float) -> tuple[str, ...]:
    notes = []
    if over.any():
        notes.append(f"The input is not finite at {int(over.sum())} of {over.size} places.")
    if not np.isfinite(score):
        notes.append(f"The score is {score}, so nothing explains it.")
    missing = int((~np.isfinite(values)).sum())
    if missing:
        notes.append(f"The map is not finite at {missing} of {values.size} places.")
    return tuple(notes)
