"""Where a population comes from: an evaluation of a run. Keeps results beside it, and opens its model again."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.errors import ConfigurationError
from cutaway.evaluation.layer_vectors import add_layer_space
from cutaway.evaluation.progress import Listener
from cutaway.evaluation.reopening import Reopened, reopen
from cutaway.models import Limits
from cutaway.run import Run, find_run
from cutaway.run.analyses import write_arrays, write_table
from cutaway.run.evaluated import EvaluatedPopulation, chosen_evaluation, open_evaluated
from cutaway.run.evaluations import evaluations

__all__ = ["Given", "Origin", "Unkept", "open_origin"]

log = logging.getLogger("cutaway.analysis")


@dataclass(frozen=True)
class Given:
    """What a caller brings to ask the model again: a data set, a model, and how far to trust it."""

    dataset: Dataset | None = None
    model: Any = None
    trust: bool = False
    limits: Limits | None = None


class Unkept(NamedTuple):
    """A result that the run could not keep, and why not."""

    kind: str
    reason: str

    def __str__(self) -> str:
        return f"What was found ({self.kind}) is not kept, and has to be made again next time: {self.reason}"


@dataclass(eq=False)
class Origin(EvaluatedPopulation):
    """An evaluated population whose model can be asked again, and beside which results are kept.

    `unkept` has the results that could not be: a full disk, or a run of somebody else, costs them, never the answer.
    """

    given: Given = field(default_factory=Given)
    unkept: list[Unkept] = field(default_factory=list)
    _reopened: Reopened | None = None

    def keep(
        self, kind: str, settings: Mapping[str, Any], table: pa.Table, notes: Sequence[str] = (), **about: Any
    ) -> None:
        """Keep a table with what it was made from; where the run cannot be written, say so and go on."""
        told = {"key": self.key(kind, settings), "settings": dict(settings), "notes": list(notes), **about}
        try:
            write_table(self.evaluation, self.name(kind), table, told)
        except OSError as error:
            self._note_unkept(kind, error)

    def keep_arrays(self, kind: str, settings: Mapping[str, Any], arrays: Mapping[str, Array], **about: Any) -> None:
        """Keep arrays with what they were made from; where the run cannot be written, say so and go on."""
        told = {"key": self.key(kind, settings), "settings": dict(settings), **about}
        try:
            write_arrays(self.evaluation, self.name(kind), arrays, told)
        except OSError as error:
            self._note_unkept(kind, error)

    def _note_unkept(self, kind: str, error: OSError) -> None:
        self.unkept.append(Unkept(kind, str(error)))
        log.warning("%s", self.unkept[-1])

    def earlier(self) -> list[Self]:
        """Return the finished evaluations of the run before this one that have the same subsets and space."""
        return [
            replace(self, evaluation=one, _reopened=None)
            for one in evaluations(self.evaluation.run)
            if one.number < self.evaluation.number
            and one.finished
            and set(self.subsets) <= set(one.subsets)
            and self.space in one.spaces
        ]

    def reopened(self) -> Reopened:
        """Open the data set and the model again; the same at every call."""
        if self._reopened is None:
            given = self.given
            self._reopened = reopen(
                self.evaluation, dataset=given.dataset, model=given.model, trust=given.trust, limits=given.limits
            )
        return self._reopened

    def close(self) -> None:
        """Close the model where it was opened."""
        if self._reopened is not None:
            self._reopened.close()
            self._reopened = None


def open_origin(
    run: Run | str | Path,
    *,
    number: int | None = None,
    subsets: Sequence[str] | None = None,
    space: str | None = None,
    layers: Sequence[str] = (),
    prediction: str | None = None,
    given: Given | None = None,
    progress: Listener | None = None,
) -> Origin:
    """Return an evaluation of a run as it was asked for: the last finished one, every subset, the default space."""
    evaluation = chosen_evaluation(run if isinstance(run, Run) else find_run(str(run)), number)
    if space is not None and layers:
        raise ConfigurationError("`space` names a latent space and `layers` makes one.", hint="Give one of them.")
    found = open_evaluated(evaluation, subsets=subsets, space="" if layers else space, prediction=prediction)
    origin = Origin(found.evaluation, found.subsets, found.space, found.answer, given or Given())
    if layers:
        origin.space = add_layer_space(origin.reopened(), layers, progress=progress)
    return origin
