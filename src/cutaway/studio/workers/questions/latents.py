"""What is asked of the latent vectors alone: which samples are alike. Runs no users' code and opens no model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.neighbours import Index, build_index
from cutaway.analysis.neighbours.index import EXACT_ROWS
from cutaway.analysis.neighbours.similar import Similar, find_similar
from cutaway.analysis.population.index import population_index
from cutaway.analysis.samples import SAMPLE, Samples
from cutaway.analysis.samples.origin import open_origin
from cutaway.errors import EvaluationError

__all__ = ["Latents", "similar_value"]


class Latents:
    """The latent vectors of an evaluation and their neighbours, read when they are first asked for."""

    def __init__(self, run: str, evaluation: int) -> None:
        self._origin = open_origin(run, number=evaluation)
        self.questions: dict[str, Callable[[Mapping[str, Any]], Any]] = {"ready": self._ready, "similar": self._similar}

    @property
    def is_stale(self) -> bool:
        """Never: an evaluation that is finished stays as it is, and another one in its place has another worker."""
        return False

    @cached_property
    def _samples(self) -> Samples:
        """The ids and the vectors; what else is known of a sample the server has itself."""
        return Samples(pa.table({SAMPLE: self._origin.ids()}), self._origin.latents())

    @cached_property
    def _index(self) -> Index:
        if len(self._samples) <= EXACT_ROWS:
            # On the processor: one query at a time is answered before a device is even asked for.
            return build_index(self._samples.latents, device="cpu")
        return population_index(self._samples, self._origin)

    def _ready(self, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - as all questions
        """Read everything, and look once: the first search of a process takes longer than all others."""
        rows = np.flatnonzero(self._samples.finite)[:1]
        if len(rows):
            find_similar(self._samples, self._index, rows, 1)
        return {"samples": len(self._samples)}

    def _similar(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """`rows` to look near, `count` of them to find, `among` a packed mask of the rows that may be found."""
        samples = self._samples
        rows = np.asarray(arguments["rows"], np.int64)
        if int(arguments["samples"]) != len(samples):
            raise EvaluationError(
                f"The evaluation has {len(samples):,} latent vectors for {arguments['samples']:,} samples.",
                hint="Evaluate again.",
            )
        packed = arguments.get("among")
        among = None if packed is None else np.unpackbits(packed, count=len(samples)).astype(np.bool_)
        return similar_value(find_similar(samples, self._index, rows, int(arguments["count"]), among=among))


def similar_value(found: Similar) -> dict[str, Any]:
    """Return similar samples as values: ids and distances, units, notes."""
    units = found.units.select(["unit", "share", "active"]).to_pylist()
    return {
        "samples": found.table[SAMPLE].to_pylist(),
        "distances": found.table["distance"].to_pylist(),
        "units": units,
        "notes": list(found.notes),
    }
