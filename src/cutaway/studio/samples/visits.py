"""What the training saw of a sample each time: the values that its hook saved."""

from __future__ import annotations

import math

import pyarrow as pa

from cutaway.studio.wire.sample import SampleVisits
from cutaway.trial.trial import Trial

__all__ = ["visits_of"]

MOST_VISITS = 2_000
_LOSS = "loss"


def visits_of(trial: Trial, sample: str) -> tuple[SampleVisits | None, list[str]]:
    """Return the losses of a sample in step order; None where none was saved. Of very many, even ones are shown."""
    if trial.run.identity.get("kind") == "evaluation":
        return None, []
    values = trial.sample_values(sample=sample, name=_LOSS)
    count = values.num_rows
    if not count:
        return None, []
    notes = []
    if count > MOST_VISITS:
        step = -(-count // MOST_VISITS)
        values = values.take(pa.array(range(0, count, step)))
        notes.append(f"The training saw this sample {count:,} times; one in {step} is shown.")
    steps = values["step"].to_pylist()
    found = values["value"].to_pylist()
    return SampleVisits(
        steps=steps,
        epochs=_epochs(trial, steps),
        losses=[one if one is not None and math.isfinite(one) else None for one in found],
        mode=[one or "TRAIN" for one in values["mode"].to_pylist()],
    ), notes


def _epochs(trial: Trial, steps: list[int]) -> list[int | None]:
    columns = trial.step_columns()
    if "epoch" not in columns:
        return [None] * len(steps)
    by_step = dict(zip(columns["step"].tolist(), columns["epoch"].tolist(), strict=True))
    return [by_step.get(one) if (by_step.get(one) or 0) >= 0 else None for one in steps]
