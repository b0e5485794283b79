"""The samples that a model sees most alike, as rows: a worker finds them, the population says what each is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.studio.populations import Loaded
from cutaway.studio.populations.table_rows import table_rows
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.samples.facts import row_of
from cutaway.studio.wire.sample import SimilarAnswer, SimilarRow, UnitRow
from cutaway.studio.workers.pool import Workers

__all__ = ["similar_rows", "similar_samples"]


def similar_samples(
    workers: Workers,
    loaded: Loaded,
    previews: SamplePreviews,
    *,
    run_id: str,
    samples: Sequence[str],
    count: int,
    where: Sequence[str],
) -> SimilarAnswer:
    """Return the samples nearest to one or several, among those for which all conditions hold."""
    rows = [row_of(loaded, one) for one in samples]
    arguments: dict[str, Any] = {"rows": rows, "count": count, "samples": len(loaded)}
    if where:
        arguments["among"] = np.packbits(loaded.where(where))
    found = workers.ask(run_id, loaded.number, "similar", arguments, lane="latents").value
    similar = similar_rows(loaded, previews, found)
    labels = Counter(one.label for one in similar if one.label is not None)
    return SimilarAnswer(
        similar=similar,
        labels=dict(sorted(labels.items(), key=lambda one: (-one[1], one[0]))),
        units=[UnitRow(unit=one["unit"], share=one["share"], active=one["active"]) for one in found["units"]],
        notes=found["notes"],
    )


def similar_rows(loaded: Loaded, previews: SamplePreviews, found: Mapping[str, Any]) -> list[SimilarRow]:
    """Return what a worker found as rows, in its order."""
    known = loaded.rows_of(found["samples"])
    near = [(known[name], far) for name, far in zip(found["samples"], found["distances"], strict=True) if name in known]
    rows = table_rows(loaded, previews, [row for row, _ in near])
    return [
        SimilarRow(distance=far, **one.model_dump(include=set(SimilarRow.model_fields)))
        for one, (_, far) in zip(rows, near, strict=True)
    ]
