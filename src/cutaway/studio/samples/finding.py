"""Finds a sample of a population by its id; one that is not there is refused with the nearest names."""

from __future__ import annotations

from cutaway.errors import did_you_mean
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.populations import Loaded

__all__ = ["row_of"]

# Comparing a name with a million others would take longer than typing it again.
_MOST_COMPARED = 5_000


def row_of(loaded: Loaded, sample: str) -> int:
    """Return the row of a sample; refused where there is no such one."""
    row = loaded.row_of(sample)
    if row is None:
        near = did_you_mean(sample, [str(one) for one in loaded.ids[:_MOST_COMPARED].to_pylist()])
        first = loaded.ids[0].as_py() if len(loaded) else "none"
        error = f"No sample {sample!r} in evaluation {loaded.number} of run {loaded.run.name!r}."
        raise Refusal(404, "sample-unavailable", error, near.strip() or f"The first is {first!r}.")
    return row
