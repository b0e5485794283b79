"""The losses of a run, from its losses' tensors, or from scalars where it registered none; window by window, parted by
what their steps were for.

Says nothing about whether a loss is good; rules do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.selecting import in_collection, lacking
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.training_steps import TrainingSteps
from cutaway.trial.series_totals import is_loss

__all__ = [
    "LossCurve",
    "LossCurves",
    "TrainingSteps",
    "loss_names",
    "losses",
    "needs_loss",
    "training",
]

_PARTED = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


class LossCurve(NamedTuple):
    """One loss in one mode: its steps, ascending, and its values; the first `fresh` lie before the window."""

    name: str
    mode: ModeKeys
    steps: Int64Array
    values: Float64Array
    fresh: int


def loss_names(reader: TensorReader) -> tuple[list[str], list[str]]:
    """Return the tensors and, where there are none, the scalars that are losses."""
    tensors = in_collection(reader, "losses")
    return tensors, [] if tensors else [name for name in reader.scalar_names() if is_loss(name)]


def losses(
    reader: TensorReader,
    start: int,
    stop: int,
    mode: ModeKeys,
    *,
    before: int = 0,
    tensors: Iterable[str] | None = None,
) -> list[LossCurve]:
    """Return every loss of a mode for `start <= step < stop`, each with up to `before` earlier values.

    `tensors` names other tensors of one number than the run's losses.
    """
    named, scalars = loss_names(reader) if tensors is None else (list(tensors), [])
    found = []
    for block in reader.statistics_blocks(named, start, stop, before=before, mode=mode):
        for row, name in enumerate(block.names):
            if (block["size"][row] == 1).all():
                values = np.where(block["nonfinite"][row] > 0, np.nan, block["mean"][row])
                found.append(LossCurve(name, mode, block.steps, values, block.fresh))
    for name in scalars:
        rows = reader.scalar_window(name, 0 if before else start, stop, mode)
        cut = max(int(np.searchsorted(rows["step"], start)) - before, 0)
        steps, values = rows["step"][cut:], rows["value"][cut:]
        if len(steps):
            found.append(LossCurve(name, mode, steps, values, int(np.searchsorted(steps, start))))
    return sorted(found, key=lambda loss: loss.name)


class LossCurves:
    """Reads one window after the other.

    A step without a mode counts as GLOBAL; where it is an evaluation whose mode nobody set it is left out.
    """

    def __init__(self) -> None:
        self._training = TrainingSteps()

    def read(
        self, reader: TensorReader, start: int, stop: int, tensors: Collection[str] | None = None
    ) -> list[LossCurve]:
        """Return every loss of every mode for `start <= step < stop`; GLOBAL holds the steps of no mode only.

        `tensors` names other tensors than the run's losses. Raises `InsufficientInformationForRuleInvocation` where
        the run has no loss.
        """
        if tensors is None and not any(loss_names(reader)):
            raise needs_loss(reader)
        rows = reader.step_window(start, stop)
        saved_alone = set() if tensors is not None else set(loss_names(reader)[1])
        idle = rows["step"][(rows["mode"] == ModeKeys.GLOBAL.name) & ~self._training.among(rows)]
        found = []
        for loss in losses(reader, start, stop, ModeKeys.GLOBAL, tensors=tensors):
            rest = ~np.isin(loss.steps, idle)
            for mode in _PARTED:
                if loss.name in saved_alone:  # perhaps at steps that left no record
                    steps = reader.scalar_window(loss.name, start, stop, mode)["step"]
                else:
                    steps = rows["step"][rows["mode"] == mode.name]
                own = np.isin(loss.steps, steps)
                rest &= ~own
                if own.any():
                    found.append(_part(loss, mode, own))
            if rest.any():
                found.append(_part(loss, ModeKeys.GLOBAL, rest))
        return found


def training(curves: Iterable[LossCurve]) -> list[LossCurve]:
    """Return the losses of training: the steps of TRAIN and of no mode, together."""
    parts: dict[str, list[LossCurve]] = {}
    for loss in curves:
        if loss.mode in (ModeKeys.TRAIN, ModeKeys.GLOBAL):
            parts.setdefault(loss.name, []).append(loss)
    return [_joined(own) for _, own in sorted(parts.items())]


def needs_loss(reader: TensorReader) -> InsufficientInformationForRuleInvocation:
    """Return the error that says that a run has no loss, and how it gets one."""
    saved = str(lacking(reader, ["losses"])).partition("; ")[2].partition(" Add ")[0]
    return InsufficientInformationForRuleInvocation(
        f"needs a loss: collection 'losses', or a scalar named 'loss'; {saved} "
        "Call `hook.register_loss(criterion)`, or `hook.save_scalar('loss', value)` at every step."
    )


def _part(loss: LossCurve, mode: ModeKeys, own: BoolArray) -> LossCurve:
    return LossCurve(loss.name, mode, loss.steps[own], loss.values[own], 0)


def _joined(parts: list[LossCurve]) -> LossCurve:
    if len(parts) == 1:
        return parts[0]
    steps = np.concatenate([part.steps for part in parts])
    values = np.concatenate([part.values for part in parts])
    order = np.argsort(steps, kind="stable")
    return LossCurve(parts[0].name, ModeKeys.TRAIN, steps[order], values[order], 0)
