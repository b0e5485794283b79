"""Where a population comes from: an evaluation of a run. Keeps results beside it, and opens its model again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from cutaway.analysis.samples.from_run import Answer, answer_of, default_space
from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.errors import ConfigurationError, EvaluationError, did_you_mean
from cutaway.evaluation.layer_vectors import add_layer_space
from cutaway.evaluation.progress import Listener
from cutaway.evaluation.reopening import Reopened, reopen
from cutaway.models import Limits
from cutaway.run import Run, find_run
from cutaway.run.analyses import (
    AnalysisName,
    KeptTable,
    read_arrays,
    read_table,
    scope_of,
    write_arrays,
    write_table,
)
from cutaway.run.evaluations import Evaluation, evaluations

__all__ = ["Given", "Origin", "chosen_evaluation", "open_origin"]

log = logging.getLogger("cutaway.analysis")

# Counted up when an analysis gives other results than before, so that what an older version kept is made anew.
VERSION = 1


@dataclass(frozen=True)
class Given:
    """What a caller brings to ask the model again: a data set, a model, and how far to trust it."""

    dataset: Dataset | None = None
    model: Any = None
    trust: bool = False
    limits: Limits | None = None


@dataclass
class Origin:
    """An evaluation, which subsets of it, in which latent space, and which of its predictions."""

    evaluation: Evaluation
    subsets: tuple[str, ...]
    space: str
    answer: Answer
    given: Given = field(default_factory=Given)
    _reopened: Reopened | None = None

    @property
    def scope(self) -> str:
        """The word for the subsets, as it stands in file names."""
        return scope_of(self.evaluation, self.subsets)

    def name(self, kind: str) -> AnalysisName:
        """Return the name of one analysis of this population."""
        return AnalysisName(self.scope, kind, self.space)

    def key(self, kind: str, settings: Mapping[str, Any]) -> str:
        """Return what identifies a result: the evaluation, the latent space, and what was asked."""
        made_from = [
            self.evaluation.source.key,
            self.evaluation.number,
            self.scope,
            self.space,
            self.answer.prediction,
        ]
        whole = json.dumps([VERSION, kind, made_from, dict(settings)], sort_keys=True, default=str)
        return hashlib.sha256(whole.encode()).hexdigest()

    def kept(self, kind: str, settings: Mapping[str, Any]) -> KeptTable | None:
        """Return a table that was kept of the same; None where it has to be made."""
        return read_table(self.evaluation, self.name(kind), self.key(kind, settings))

    def keep(
        self, kind: str, settings: Mapping[str, Any], table: pa.Table, notes: Sequence[str] = (), **about: Any
    ) -> None:
        """Keep a table with what it was made from; where the run cannot be written, say so and go on."""
        told = {"key": self.key(kind, settings), "settings": dict(settings), "notes": list(notes), **about}
        with _without_room(kind):
            write_table(self.evaluation, self.name(kind), table, told)

    def kept_arrays(self, kind: str, settings: Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, Any]] | None:
        """Return arrays that were kept of the same, and what was noted with them."""
        return read_arrays(self.evaluation, self.name(kind), self.key(kind, settings))

    def keep_arrays(self, kind: str, settings: Mapping[str, Any], arrays: Mapping[str, Array], **about: Any) -> None:
        """Keep arrays with what they were made from; where the run cannot be written, say so and go on."""
        told = {"key": self.key(kind, settings), "settings": dict(settings), **about}
        with _without_room(kind):
            write_arrays(self.evaluation, self.name(kind), arrays, told)

    def earlier(self) -> list[Self]:
        """Return the finished evaluations of the run before this one that have the same subsets and space."""
        found = []
        for one in evaluations(self.evaluation.run):
            if one.number >= self.evaluation.number or not one.finished:
                continue
            if set(self.subsets) <= set(one.subsets) and self.space in one.spaces:
                found.append(type(self)(one, self.subsets, self.space, self.answer, self.given))
        return found

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
        raise ConfigurationError("`space` names a latent space and `layers` makes one. Give one of them.")
    chosen = tuple(evaluation.subsets if subsets is None else _known("subset", subsets, evaluation.subsets))
    answer = answer_of(evaluation, prediction)
    brought = given or Given()
    if layers:
        origin = Origin(evaluation, chosen, "", answer, brought)
        origin.space = add_layer_space(origin.reopened(), layers, progress=progress)
        return origin
    if space is not None:
        _known("latent space", [space], evaluation.spaces)
    return Origin(evaluation, chosen, space or default_space(evaluation), answer, brought)


@contextlib.contextmanager
def _without_room(kind: str) -> Iterator[None]:
    """A full disk, or a run of somebody else, costs what would be kept, never the answer."""
    try:
        yield
    except OSError as error:
        log.warning("What was found (%s) is not kept, and has to be made again next time: %s", kind, error)


def chosen_evaluation(run: Run, number: int | None = None) -> Evaluation:
    """Return a finished evaluation of a run, by default the last. Raises where there is none, or it is not ours."""
    there = evaluations(run)
    finished = [one for one in there if one.finished]
    if number is not None:
        found = next((one for one in there if one.number == number), None)
        if found is None:
            listed = ", ".join(str(one.number) for one in there) or "none"
            raise EvaluationError(f"Run {run.name!r} has no evaluation {number}. It has {listed}.")
        if not found.finished:
            raise EvaluationError(
                f"Evaluation {number} of run {run.name!r} is not finished. Run `cutaway evaluate` again."
            )
        return _as_written(found)
    if not finished:
        began = "an unfinished one: run the same `cutaway evaluate` again" if there else "none: run `cutaway evaluate`"
        raise EvaluationError(f"Analyses need a finished evaluation, and run {run.name!r} has {began}.")
    return _as_written(finished[-1])


def _as_written(evaluation: Evaluation) -> Evaluation:
    """Return an evaluation whose `source.json` has what Cutaway writes where it does; a run may come from anybody."""
    problem = evaluation.source.problem
    if problem:
        raise EvaluationError(
            f"'source.json' of evaluation {evaluation.number} is not as Cutaway writes it: {problem}. Evaluate again."
        )
    return evaluation


def _known(word: str, asked: Sequence[str], known: Sequence[str]) -> list[str]:
    for one in asked:
        if one not in known:
            listed = ", ".join(known) or "none"
            raise EvaluationError(f"There is no {word} {one!r} here.{did_you_mean(one, known)} There are {listed}.")
    return [one for one in known if one in asked]
