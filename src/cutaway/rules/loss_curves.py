"""The losses of a run window by window, parted by what their steps were for.

Says nothing about whether a loss is good; rules do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import numpy.typing as npt

from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.losses import Loss, loss_names, losses
from cutaway.rules.selecting import lacking
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader

__all__ = ["LossCurves", "needs_loss", "training"]

_PARTED = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


class LossCurves:
    """Reads one window after the other.

    A step without a mode counts as GLOBAL, which people who never call `set_mode` train in. Once such steps were seen
    to update weights, one that does not is an evaluation whose mode nobody set, and is left out.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget which steps were seen."""
        self._updates = False

    def read(self, reader: TensorReader, start: int, stop: int, tensors: Collection[str] | None = None) -> list[Loss]:
        """Return every loss of every mode for `start <= step < stop`; GLOBAL holds the steps of no mode only.

        `tensors` names other tensors than the run's losses. Raises `InsufficientInformationForRuleInvocation` where
        the run has no loss.
        """
        if tensors is None and not any(loss_names(reader)):
            raise needs_loss(reader)
        rows = reader.step_window(start, stop)
        saved_alone = set() if tensors is not None else set(loss_names(reader)[1])
        idle = self._without_update(rows["step"], rows["mode"], np.asarray(rows["optimizer"], np.float64))
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

    def _without_update(
        self, steps: npt.NDArray[np.int64], modes: npt.NDArray[np.object_], optimizer: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64]:
        """Return the steps of no mode that updated nothing although earlier ones did."""
        no_mode = modes == ModeKeys.GLOBAL.name
        updated = no_mode & np.isfinite(optimizer)
        seen = np.logical_or.accumulate(updated) | self._updates
        self._updates = self._updates or bool(updated.any())
        return steps[no_mode & ~updated & seen]


def training(curves: Iterable[Loss]) -> list[Loss]:
    """Return the losses of training: the steps of TRAIN and of no mode, together."""
    parts: dict[str, list[Loss]] = {}
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


def _part(loss: Loss, mode: ModeKeys, own: npt.NDArray[np.bool_]) -> Loss:
    return Loss(loss.name, mode, loss.steps[own], loss.values[own], 0)


def _joined(parts: list[Loss]) -> Loss:
    if len(parts) == 1:
        return parts[0]
    steps = np.concatenate([part.steps for part in parts])
    values = np.concatenate([part.values for part in parts])
    order = np.argsort(steps, kind="stable")
    return Loss(parts[0].name, ModeKeys.TRAIN, steps[order], values[order], 0)
