"""What two runs measured of samples that neither was trained on: by evaluations, or as hooks recorded it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.fixing.gain import Gain, gain_over_samples, gain_without_interval
from cutaway.analysis.samples import LABEL, PREDICTION, SAMPLE
from cutaway.errors import CutawayError
from cutaway.run import Run
from cutaway.run.evaluated import open_evaluated
from cutaway.run.evaluations import Evaluation, evaluations
from cutaway.run.schemas import SCALARS, STEPS

__all__ = ["ONE_TRAINING_EACH", "MeasuredFix", "measure", "recorded_accuracy"]

HELD_OUT = ("validation", "test")
ONE_TRAINING_EACH = "One training each: the next one may differ by as much. `--repeats 5` tells what is chance."
_ACCURACY = re.compile(r"(?i)(^|[^a-z])(acc|accuracy)([^a-z]|$)")


@dataclass(frozen=True)
class MeasuredFix:
    """What was bought, measured on what, with what limits it; or no gain, and what to add to get one."""

    gain: Gain | None
    on: str
    notes: tuple[str, ...] = ()

    @property
    def is_loss(self) -> bool:
        """Whether repeated retrainings clearly lost accuracy."""
        return self.gain is not None and self.gain.is_loss


@dataclass(frozen=True)
class _Answers:
    """The held-out samples of an evaluation: ids in their order, labels, predictions and content hashes."""

    ids: list[str]
    labels: list[str | None]
    predictions: list[str | None]
    hashes: list[str | None]


def measure(old: Run, new: Run, *, number: int | None = None) -> MeasuredFix:
    """Return how the accuracy of two runs differs: sample by sample where both were evaluated on the same ones."""
    first = _evaluation(old, number)
    second = _evaluation(new, None)
    if first is not None and second is not None:
        for subset in HELD_OUT:
            found = _paired(first, second, subset)
            if found is not None:
                return found
    before, after = recorded_accuracy(old), recorded_accuracy(new)
    if before is not None and after is not None:
        note = f"Unpaired: two numbers that hooks recorded while evaluating. {ONE_TRAINING_EACH}"
        return MeasuredFix(gain_without_interval(before, after), "recorded accuracy", (note,))
    lacking = old if (second is not None or after is not None) else new
    return MeasuredFix(
        None,
        "",
        (
            f"Run {lacking.name!r} has no evaluation of validation or test samples, and recorded no accuracy. Let the "
            "training script end with `cutaway.evaluation.evaluate(dataset, model, hook)`, or record "
            "`hook.save_scalar('accuracy', value)` after `hook.set_mode('EVAL')`.",
        ),
    )


def recorded_accuracy(run: Run) -> float | None:
    """Return the accuracy that a hook recorded last in EVAL mode: the mean of what came after the last training."""
    table = run.table(SCALARS).read(columns=["name", "step", "mode", "value"])
    names = [name for name in pc.unique(table["name"]).to_pylist() if _ACCURACY.search(name)]
    evaluated = table.filter(
        pc.and_(pc.equal(table["mode"], "EVAL"), pc.is_in(table["name"], pa.array(names, pa.string())))
    )
    if not evaluated.num_rows:
        return None
    chosen = min(pc.unique(evaluated["name"]).to_pylist(), key=lambda name: (len(name), name))
    evaluated = evaluated.filter(pc.equal(evaluated["name"], chosen))
    steps = run.table(STEPS).read(columns=["step", "mode"])
    trained = pc.max(steps.filter(pc.equal(steps["mode"], "TRAIN"))["step"]).as_py()
    last = pc.max(evaluated["step"]).as_py()
    since = last if trained is None or last <= trained else trained + 1
    values = evaluated.filter(pc.greater_equal(evaluated["step"], since))["value"].to_numpy()
    values = values[np.isfinite(values)]
    return float(values.mean()) if values.size else None


def _evaluation(run: Run, number: int | None) -> Evaluation | None:
    there = [one for one in evaluations(run) if one.finished and number in (None, one.number)]
    return there[-1] if there else None


def _paired(first: Evaluation, second: Evaluation, subset: str) -> MeasuredFix | None:
    before, after = _answers(first, subset), _answers(second, subset)
    if before is None or after is None:
        return None
    place = {one: i for i, one in enumerate(before.ids)}
    pairs = [(place[one], i) for i, one in enumerate(after.ids) if one in place]
    same = [
        (i, j) for i, j in pairs if None in (before.hashes[i], after.hashes[j]) or before.hashes[i] == after.hashes[j]
    ]
    # The label that counts is the one of now: corrected ones are what both are measured with.
    known = [(i, j) for i, j in same if after.labels[j] is not None and before.predictions[i] is not None]
    if not known:
        return None
    was = np.array([before.predictions[i] == after.labels[j] for i, j in known])
    now = np.array([after.predictions[j] == after.labels[j] for i, j in known])
    notes = []
    if len(known) < max(len(before.ids), len(after.ids)):
        notes.append(f"{len(known):,} of {max(len(before.ids), len(after.ids)):,} {subset} samples are in both.")
    relabelled = sum(before.labels[i] != after.labels[j] for i, j in known)
    if relabelled:
        notes.append(
            f"{relabelled:,} {subset} labels were corrected between the two; both are measured with the new ones."
        )
    notes.append(ONE_TRAINING_EACH)
    return MeasuredFix(gain_over_samples(was, now), f"{len(known):,} {subset} samples", tuple(notes))


def _answers(evaluation: Evaluation, subset: str) -> _Answers | None:
    try:
        population = open_evaluated(evaluation, subsets=[subset], space="")
        names = population.column_names
    except CutawayError:
        return None
    if not {LABEL, PREDICTION} <= set(names):
        return None
    columns = population.table([SAMPLE, LABEL, PREDICTION]).to_pydict()
    hashes = population.hashes() or (None,) * len(columns[SAMPLE])
    return _Answers(columns[SAMPLE], columns[LABEL], columns[PREDICTION], list(hashes))
