"""What a rule says about some subjects over some steps, and how that becomes findings.

Pure: arrays in, values out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cutaway.arrays import BoolArray, Float64Array, Int64Array

__all__ = ["Episodes", "Judgement", "Onset"]


@dataclass(frozen=True)
class Judgement:
    """For every subject (a tensor, a class, "" for the run) and step: whether the rule fires, on which value.

    `fires` and `value` have a row per subject and a column per step. `message` and `evidence` are asked only where a
    finding comes of it, with the places of subject and step.
    """

    subjects: Sequence[str]
    steps: Int64Array
    fires: BoolArray
    value: Float64Array
    threshold: float
    message: Callable[[int, int], str]
    evidence: Callable[[int, int], Mapping[str, Any]] | None = None
    noun: str = "tensor"  # what the subjects are; a finding says under this word where it is

    @classmethod
    def of_one(  # noqa: PLR0917 - in the order of the fields
        cls,
        subject: str,
        steps: npt.ArrayLike,
        fires: npt.ArrayLike,
        value: npt.ArrayLike,
        threshold: float,
        message: Callable[[int], str],
        evidence: Callable[[int], Mapping[str, Any]] | None = None,
    ) -> Judgement:
        """Say something about one subject; arrays have an entry per step."""
        return cls(
            [subject],
            np.asarray(steps, np.int64),
            np.atleast_2d(np.asarray(fires, bool)),
            np.atleast_2d(np.asarray(value, np.float64)),
            threshold,
            lambda _, step: message(step),
            None if evidence is None else lambda _, step: evidence(step),
        )

    def fired_at(self, step: int) -> bool:
        """Whether anything fired at a step."""
        return bool(self.fires[:, self.steps == step].any())


class Onset(NamedTuple):
    """A subject begins to fire."""

    step: int
    subject: str
    value: float
    judgement: Judgement
    row: int
    column: int


class Episodes:
    """Remembers when each subject last fired, so that a sickness is told once and not at every step of it.

    A subject that was quiet for `rest` of its judged steps begins anew when it fires again.
    """

    def __init__(self, rest: int) -> None:
        self._rest = rest
        self._quiet: dict[str, int] = {}  # judged steps since it last fired, of those that ever did

    def onsets(self, judgement: Judgement) -> Iterator[Onset]:
        """Yield where subjects begin to fire, subject by subject."""
        sick: BoolArray = np.any(judgement.fires, axis=1)
        count = len(judgement.steps)
        for row, subject in enumerate(judgement.subjects):
            if sick[row]:
                yield from self._begun(judgement, row, subject)
            elif subject in self._quiet:
                self._quiet[subject] += count

    def _begun(self, judgement: Judgement, row: int, subject: str) -> Iterator[Onset]:
        places = np.flatnonzero(judgement.fires[row])
        gaps = np.diff(places, prepend=-1) - 1
        known = self._quiet.get(subject)
        gaps[0] = self._rest if known is None else gaps[0] + known
        self._quiet[subject] = len(judgement.steps) - 1 - int(places[-1])
        for place in places[gaps >= self._rest].tolist():
            value = float(judgement.value[row, place])
            yield Onset(int(judgement.steps[place]), subject, value, judgement, row, place)
