"""Loss and accuracy against batches, from what a hook recorded of a training. Draws nothing and judges nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.batches.recorded import NAMES, Batch, BatchNumbers, Number, sources, steps_without_record
from cutaway.arrays import Float64Array
from cutaway.errors import AnalysisUnavailable
from cutaway.run.catalog import find_run
from cutaway.run.identity import Run
from cutaway.tensors.modes import ModeKeys
from cutaway.trial import Trial, no_refresh

__all__ = ["BatchCurves", "batch_curves", "smoothed"]


ANALYSIS = "loss and accuracy against batches"
# The smoothed curve takes this part of the batches of a mode together, and no more than so many.
PART, WIDEST = 20, 101


@dataclass(frozen=True)
class BatchCurves:
    """Loss and accuracy of each batch, and smoothed over the batches around it.

    `table` has a row for each step of which either is known, mode by mode: `mode`, `step` (over all modes), `batch`
    (the step counted in its mode) and `epoch` where they are known; `count`, the samples that the loss is a mean of,
    null where the hook saw the loss of the batch only; `loss`, `loss_smooth`, `accuracy`, `accuracy_smooth`. A loss
    that is not finite stays what it was, and the smoothed curve passes over it. `notes` say where the numbers come
    from, and what is not there.
    """

    run: str
    table: pa.Table
    notes: tuple[str, ...]

    def of(self, mode: ModeKeys | str) -> pa.Table:
        """Return the rows of one mode, such as `TRAIN` or `EVAL`."""
        return self.table.filter(pc.equal(self.table["mode"], ModeKeys.parse(mode).name))

    def words(self) -> str:
        """Say for each mode where the smoothed curves begin and end."""
        said = []
        for mode in self.table["mode"].unique().to_pylist():
            own = self.of(mode)
            parts = [f"{mode}, {own.num_rows:,} batches"]
            for name in NAMES:
                known = [one for one in own[f"{name}_smooth"].to_pylist() if one is not None]
                parts += [f"{name} {known[0]:.4g} to {known[-1]:.4g}"] if known else []
            said.append(": ".join([parts[0], ", ".join(parts[1:]) or "nothing finite"]))
        return "; ".join(said)


def batch_curves(trial: Trial | Run | str | Path) -> BatchCurves:
    """Return loss and accuracy against the batches of a run: a trial, a run, or the path or name of one.

    The loss of a batch is the mean over its samples where the hook recorded them, else the scalar `loss`, else the
    tensor of a loss. Accuracy is the share of samples that were answered rightly, else the scalar `accuracy`, else
    counted from labels and predictions that were saved in full. Of a loss with class weights the mean over samples is
    not the weighted one. A resumed run shows each step once, from the newest attempt. The smoothed curve averages a
    twentieth of the batches of the mode, 101 at most, around each, by their samples.
    """
    opened = _opened(trial)
    opened.newest_step()  # one look at the run, and then all tables of that moment
    with no_refresh(opened):
        given = {name: sources(opened, name) for name in NAMES}
        unrecorded = steps_without_record(opened)
        steps = opened.step_table()
    found = {name: _merged(own) for name, own in given.items()}
    if not any(found.values()):
        raise AnalysisUnavailable(
            ANALYSIS,
            f"run {opened.name!r} recorded neither.",
            hint=(
                "Call `hook.register_loss(criterion)` before training, with `hook.samples(loader)` for the accuracy "
                "too; or `hook.save_scalar('loss', value)` at every step."
            ),
        )
    notes = [note for name, own in given.items() for note in _said(name, own, found[name])] + _absent(found)
    if unrecorded:
        notes.append(f"Steps with values of samples that left no record, and are left out: {unrecorded:,}.")
    return BatchCurves(opened.name, _table(found, steps), tuple(notes))


def _opened(given: Trial | Run | str | Path) -> Trial:
    if isinstance(given, Trial):
        return given
    # Not `create_trial`, which waits for a training that starts: a run may hold an evaluation and no training at all.
    return Trial(given if isinstance(given, Run) else find_run(str(given)))


def _merged(sources: Iterable[BatchNumbers]) -> dict[Batch, Number]:
    merged: dict[Batch, Number] = {}
    for source in sources:
        merged = {**source.values, **merged}
    return merged


def _said(name: str, sources: Iterable[BatchNumbers], found: Mapping[Batch, object]) -> list[str]:
    """Say from where the numbers of how many batches come."""
    left, parts = set(found), []
    for source in sources:
        own = left & source.values.keys()
        left -= own
        parts += [f"{source.words} for {len(own):,} {'batch' if len(own) == 1 else 'batches'}"] if own else []
    return [f"The {name} is {', '.join(parts)}."] if parts else []


def _absent(found: Mapping[str, Mapping[Batch, object]]) -> list[str]:
    """Say which modes have the one and not the other, and how to get it."""
    modes = {name: {mode for mode, _ in own} for name, own in found.items()}
    said = [f"There is no loss of {mode} batches." for mode in sorted(modes["accuracy"] - modes["loss"])]
    for mode in sorted(modes["loss"] - modes["accuracy"]):
        if mode in (ModeKeys.EVAL.name, ModeKeys.PREDICT.name):
            how = "Values of samples are recorded in training only: call `hook.save_scalar('accuracy', value)`."
        else:
            how = "`hook.samples(loader)` beside `hook.register_loss(criterion)` records it for classifiers."
        said.append(f"There is no accuracy of {mode} batches. {how}")
    return said


def _table(found: Mapping[str, Mapping[Batch, Number]], steps: pa.Table) -> pa.Table:
    order = {mode.name: mode.value for mode in ModeKeys}
    batches = sorted({batch for own in found.values() for batch in own}, key=lambda one: (order[one[0]], one[1]))
    columns = (steps[name].to_pylist() for name in ("mode", "step", "mode_step", "epoch"))
    known = {(mode, step): (batch, epoch) for mode, step, batch, epoch in zip(*columns, strict=True)}
    places = [known.get(batch, (None, None)) for batch in batches]
    modes = [mode for mode, _ in batches]
    numbers = {name: [own.get(batch) for batch in batches] for name, own in found.items()}
    table: dict[str, pa.Array] = {
        "mode": pa.array(modes, pa.string()),
        "step": pa.array([step for _, step in batches], pa.int64()),
        "batch": pa.array([batch for batch, _ in places], pa.int64()),
        "epoch": pa.array([epoch for _, epoch in places], pa.int64()),
        "count": pa.array([None if one is None else one[1] for one in numbers["loss"]], pa.int64()),
    }
    for name, own in numbers.items():
        table[name] = pa.array([None if one is None else one[0] for one in own], pa.float64())
        smooth = _smooth(own, np.array(modes))
        table[f"{name}_smooth"] = pa.array(smooth, mask=np.isnan(smooth))
    return pa.table(table)


def _smooth(numbers: Sequence[Number | None], modes: npt.NDArray[np.str_]) -> Float64Array:
    """Return the smoothed curve of each mode at the batches that have a number, NaN at the others."""
    has = np.array([one is not None for one in numbers])
    values = np.array([np.nan if one is None else one[0] for one in numbers], np.float64)
    counts = np.array([np.nan if one is None or one[1] is None else one[1] for one in numbers], np.float64)
    found = np.full(len(numbers), np.nan)
    for mode in np.unique(modes):
        own = has & (modes == mode)
        width = min(max(int(own.sum()) // PART, 1), WIDEST)
        found[own] = smoothed(values[own], counts[own], width)
    return found


def smoothed(values: Float64Array, counts: Float64Array, width: int) -> Float64Array:
    """Return at each place the mean of the values around it, weighted by their counts.

    As many of them as `width` says, one more where that is even, so that it lies in their middle; fewer at the ends.
    A count of NaN weighs as much as the others do on average. Values that are not finite are passed over; where none
    is left around it it is NaN.

    >>> smoothed(np.array([1.0, 2.0, 6.0]), np.array([1.0, 1.0, 1.0]), 3).tolist()
    [1.5, 3.0, 4.0]
    """
    if not len(values):
        return values
    half = min(width // 2, len(values) - 1)
    known = np.isfinite(counts)
    weights = np.where(known, counts, counts[known].mean() if known.any() else 1.0)
    weights = np.where(np.isfinite(values), weights, 0.0)
    # Not by differences of running sums, which one loss of 1e20 would spoil for all that follow.
    kernel = np.ones(2 * half + 1)
    sums, totals = (
        np.convolve(one, kernel)[half : half + len(values)]
        for one in (np.where(weights > 0, values, 0.0) * weights, weights)
    )
    found = np.full(len(values), np.nan)
    np.divide(sums, totals, out=found, where=totals > 0)
    return found
