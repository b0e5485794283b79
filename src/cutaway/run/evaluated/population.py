"""`EvaluatedPopulation`: the samples of an evaluation as its files have them, and what analyses kept of them.

Here it is also said which evaluation of a run is meant, which subsets of it, and which of its latent spaces.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, Float32Array
from cutaway.errors import EvaluationError, did_you_mean
from cutaway.run.analyses import AnalysisName, KeptTable, read_about, read_arrays, read_table, scope_of
from cutaway.run.evaluated.answer import ModelAnswer, answer_of
from cutaway.run.evaluated.elements import Elements, read_elements
from cutaway.run.evaluated.tables import element_columns, sample_columns, sample_table
from cutaway.run.evaluations import LATENT, Evaluation, evaluations, space_file_name
from cutaway.run.identity import Run
from cutaway.run.rows import is_number

__all__ = ["EvaluatedPopulation", "chosen_evaluation", "open_evaluated"]

METRIC = "metric."
# Counted up when every analysis gives other results than before, so that what an older version kept is made anew.
VERSION = 1
# The same of single ones; another number than `VERSION` has.
VERSIONS = {"mislabeled": 3, "insights": 3, "confusion": 3, "confusion_classes": 3, "curve": 2, "clusters_words": 2}
# More classes than this times samples of probabilities are left in their file.
MOST_PROBABILITIES = 50_000_000


@dataclass(eq=False)
class EvaluatedPopulation:
    """Some subsets of an evaluation, one after the other: which latent space of it, and which of its predictions.

    Nothing is read before it is asked for, nor kept: a column costs that column each time.
    """

    evaluation: Evaluation
    subsets: tuple[str, ...]
    space: str
    answer: ModelAnswer

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many samples each subset has."""
        return {name: self.evaluation.count(name) for name in self.subsets}

    @cached_property
    def column_names(self) -> list[str]:
        """The columns that `table` gives, as analyses call them."""
        return sample_columns(self.evaluation, self.subsets, self.answer)

    @cached_property
    def file_columns(self) -> frozenset[str]:
        """The columns that the files of every subset have, under their own names."""
        return frozenset.intersection(*(frozenset(self.evaluation.column_names(name)) for name in self.subsets))

    def table(self, columns: Collection[str] | None = None) -> pa.Table:
        """Return the samples in rows; all columns, or those of `columns` that there are.

        Raises `EvaluationError` where a file is damaged, or not as Cutaway writes it.
        """
        return sample_table(self.evaluation, self.subsets, self.answer, columns)

    @cached_property
    def confusion_metrics(self) -> tuple[str, ...]:
        """The metrics that hold confusion elements, by name; `elements` has those of one."""
        return tuple(name.removeprefix(METRIC) for name in element_columns(self.evaluation, self.subsets))

    def elements(self, metric: str) -> Elements:
        """Return the confusion elements of a metric."""
        _known("metric of confusion elements", [metric], self.confusion_metrics)
        return read_elements(self.evaluation, self.subsets, f"{METRIC}{metric}")

    def ids(self) -> pa.ChunkedArray:
        """Return the ids of the samples as they stand in the files, which nothing else is read for."""
        tables = [self.evaluation.table(name, ["id"]) for name in self.subsets]
        return pa.concat_tables(tables)["id"].cast(pa.string())

    def latents(self) -> Float32Array:
        """Return the latent vectors; NaN where a sample failed. Raises where they are not of one width."""
        failed = {name: rows for name in self.subsets if (rows := self._all_failed(name))}
        found = {name: self.evaluation.latents(name, self.space) for name in self.subsets if name not in failed}
        # Where nothing tells how wide a vector is, one NaN says that there is none.
        width = next(iter(found.values())).shape[1:] if found else (1,)
        found |= {name: np.full((rows, *width), np.nan, np.float32) for name, rows in failed.items()}
        arrays = {name: found[name] for name in self.subsets}
        widths = {values.shape[1:] for values in arrays.values()}
        if len(widths) != 1 or len(next(iter(widths))) != 1 or any(one.dtype.kind != "f" for one in arrays.values()):
            listed = ", ".join(f"{values.dtype} {values.shape} of {name}" for name, values in arrays.items())
            raise EvaluationError(
                f"The latent vectors of space {self.space!r} must be numbers of one width, but evaluation "
                f"{self.evaluation.number} has {listed or 'none'}.",
                hint="Evaluate again.",
            )
        # One subset stays where it lies on disk; several are put together.
        whole = arrays[self.subsets[0]] if len(arrays) == 1 else np.concatenate(list(arrays.values()))
        return whole.astype(np.float32, copy=False)

    def _all_failed(self, subset: str) -> int:
        """Return how many samples a subset has of which each failed, so that there is no file of vectors; else 0."""
        if (self.evaluation.path / f"{subset}.{space_file_name(self.space)}.npy").is_file():
            return 0
        errors = self.evaluation.table(subset, ["error"])
        return len(errors) if errors.num_columns and not errors["error"].null_count else 0

    def probabilities(self, rows: int) -> Float32Array | None:
        """Return the probabilities of the classes, where there are any and not too many of them to be read.

        They are the model's own, or the softmax of the scores that it gives instead.
        """
        classes, name = len(self.answer.classes), self.answer.score_column
        if not classes or rows * classes > MOST_PROBABILITIES:
            return None
        found = []
        for subset in self.subsets:
            if name not in self.evaluation.column_names(subset) or self.evaluation.in_blobs(subset, name):
                return None
            found.append(_dense(self.evaluation.table(subset, [name])[name].combine_chunks(), classes))
        return np.asarray(self.answer.likely(np.concatenate(found)), np.float32)

    def hashes(self) -> tuple[str | None, ...] | None:
        """Return what tells which samples have the same content; None where a subset does not say it."""
        if not all("hash" in self.evaluation.column_names(name) for name in self.subsets):
            return None
        columns = [self.evaluation.table(name, ["hash"])["hash"] for name in self.subsets]
        if not all(pa.types.is_string(one.type) or pa.types.is_null(one.type) for one in columns):
            return None
        return tuple(one for column in columns for one in column.to_pylist())

    def place_of(self, row: int) -> tuple[str, int]:
        """Return the subset that a row belongs to, and which row of it that is."""
        inside = row
        for subset, count in self.counts.items():
            if inside < count:
                return subset, inside
            inside -= count
        raise EvaluationError(f"There is no row {row} in evaluation {self.evaluation.number}.")

    @property
    def scope(self) -> str:
        """The word for the subsets, as it stands in file names."""
        return scope_of(self.evaluation, self.subsets)

    def name(self, kind: str) -> AnalysisName:
        """Return the name of one analysis of this population."""
        return AnalysisName(self.scope, kind, self.space)

    def key(self, kind: str, settings: Mapping[str, Any]) -> str:
        """Return what identifies a result: the evaluation, the latent space, and what was asked."""
        source = self.evaluation.source.key
        made_from = [source, self.evaluation.number, self.scope, self.space, self.answer.prediction]
        whole = json.dumps([VERSIONS.get(kind, VERSION), kind, made_from, dict(settings)], sort_keys=True, default=str)
        return hashlib.sha256(whole.encode()).hexdigest()

    def kept(self, kind: str, settings: Mapping[str, Any]) -> KeptTable | None:
        """Return a table that was kept of the same; None where it has to be made."""
        return read_table(self.evaluation, self.name(kind), self.key(kind, settings))

    def kept_arrays(self, kind: str, settings: Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, Any]] | None:
        """Return arrays that were kept of the same, and what was noted with them."""
        return read_arrays(self.evaluation, self.name(kind), self.key(kind, settings))

    def kept_settings(self, kind: str) -> dict[str, Any] | None:
        """Return the settings by which an analysis of this population was kept; None where none was."""
        about = read_about(self.evaluation, self.name(kind))
        return None if about is None or not self.is_own(kind, about) else dict(about["settings"])

    def is_own(self, kind: str, about: Mapping[str, Any]) -> bool:
        """Whether a table was made of this population, by what it says about itself."""
        settings = about.get("settings")
        return isinstance(settings, dict) and about.get("key") == self.key(kind, settings)


def open_evaluated(
    evaluation: Evaluation,
    *,
    subsets: Sequence[str] | None = None,
    space: str | None = None,
    prediction: str | None = None,
) -> EvaluatedPopulation:
    """Return the population of an evaluation: by default of every subset, in the space that analyses take.

    An empty `space` is none: then there are no latent vectors to ask for.
    """
    chosen = tuple(evaluation.subsets if subsets is None else _known("subset", subsets, evaluation.subsets))
    answer = answer_of(evaluation, prediction)
    if space:
        _known("latent space", [space], evaluation.spaces)
    return EvaluatedPopulation(evaluation, chosen, _default_space(evaluation) if space is None else space, answer)


def chosen_evaluation(run: Run, number: int | None = None) -> Evaluation:
    """Return a finished evaluation of a run, by default the last. Raises where there is none, or it is not ours."""
    there = evaluations(run)
    finished = [one for one in there if one.finished]
    if number is not None:
        found = next((one for one in there if one.number == number), None)
        if found is None:
            listed = ", ".join(str(one.number) for one in there) or "none"
            raise EvaluationError(f"Run {run.name!r} has no evaluation {number}.", hint=f"It has {listed}.")
        if not found.finished:
            raise EvaluationError(
                f"Evaluation {number} of run {run.name!r} is not finished.", hint="Run `cutaway evaluate` again."
            )
        return _as_written(found)
    if not finished:
        began = "an unfinished one: run the same `cutaway evaluate` again" if there else "none: run `cutaway evaluate`"
        raise EvaluationError(f"Analyses need a finished evaluation, and run {run.name!r} has {began}.")
    return _as_written(finished[-1])


def _default_space(evaluation: Evaluation) -> str:
    """Return the latent space that analyses take: one of the user's that is meant for it, else the model's."""
    own = [name for name, about in evaluation.source.spaces.items() if about.use_for_analysis]
    known = evaluation.spaces
    if not known:
        raise EvaluationError(
            f"Evaluation {evaluation.number} has no latent vectors.",
            hint="Evaluate with `latent_layer=`, or `--layer`.",
        )
    return own[0] if own else LATENT if LATENT in known else known[0]


def _as_written(evaluation: Evaluation) -> Evaluation:
    """Return an evaluation whose `source.json` has what Cutaway writes where it does; a run may come from anybody."""
    problem = evaluation.source.problem
    if problem:
        raise EvaluationError(
            f"'source.json' of evaluation {evaluation.number} is not as Cutaway writes it: {problem}.",
            hint="Evaluate again.",
        )
    return evaluation


def _known(word: str, asked: Sequence[str], known: Sequence[str]) -> list[str]:
    for one in asked:
        if one not in known:
            listed = ", ".join(known) or "none"
            raise EvaluationError(
                f"There is no {word} {one!r} here.", hint=f"{did_you_mean(one, known)} There are {listed}."
            )
    return [one for one in known if one in asked]


def _dense(column: Any, width: int) -> Float32Array:
    """Return lists of one length as rows, NaN where there is none."""
    dense = np.full((len(column), width), np.nan, np.float32)
    if not (pa.types.is_list(column.type) and is_number(column.type.value_type)):
        return dense
    valid = np.asarray(column.is_valid())
    values = np.asarray(column.flatten(), np.float32)
    if values.size == valid.sum() * width:
        dense[valid] = values.reshape(-1, width)
    return dense
