"""SimilarAcrossRuns: tensors that differ from those of another run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.arrays import BoolArray, Float64Array, IndexArray, Int64Array
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.arguments import pattern, words
from cutaway.rules.closeness import COMPARED, difference, may_be_close
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection, lacking, saved_places, value_at
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock
from cutaway.trial import Trial, create_trial, no_refresh, refresh

__all__ = ["SimilarAcrossRuns"]

# The tolerances of `numpy.allclose`.
RTOL, ATOL = 1e-5, 1e-8
COLUMNS = ("size", "nonfinite", *COMPARED)


class SimilarAcrossRuns(Rule):
    """A tensor differs from the tensor of the same name and step in another run.

    What it sees:
        At a step that both runs have, a tensor's values are not close (`numpy.allclose`, 1e-5 relative and 1e-8
        absolute; NaN differ from everything). It compares full values where both runs saved them, else statistics.
        Only the first of `other_trials` is compared with.

    Why it matters:
        Two runs of the same code, data and seed should be the same. Where they part first shows what is not
        reproducible, or what a change in the code has really changed.

    What to try:
        Look at the first step and the first tensor that differ. If inputs differ, fix the seed of the loader and its
        workers; if weights differ at step 0, fix the seed before the model is made; if all is the same up to some
        gradient, ask for deterministic kernels (`torch.use_deterministic_algorithms(True)`) and the same precision.

    Needs:
        Another run, as `other_trials` (a path, a name, or a trial), and the same tensors in both. Without full values
        it fires where statistics prove a difference; the same values in another order look similar to it.

    Parameters:
        collection_names: collections to compare; with neither these nor `include_regex`, all tensors of both runs.
        include_regex: a regular expression for further tensors to compare.
    """

    def __init__(
        self,
        base_trial: Trial | None = None,
        action_str: str | None = None,
        other_trials: Sequence[Trial | str] | Trial | str | None = None,
        *,
        collection_names: Iterable[str] | str | None = None,
        include_regex: str | None = None,
    ) -> None:
        super().__init__(base_trial, action_str, _trials_of(other_trials))
        self.collection_names = words(collection_names, "collection_names")
        self.include_regex = pattern(include_regex, "include_regex")

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare what both runs have at the steps of the window."""
        if not self.other_trials:
            raise InsufficientInformationForRuleInvocation(
                "needs another run: `--param SimilarAcrossRuns.other_trials=RUN`."
            )
        other = self.other_trials[0]
        with refresh(other):
            over, newest = other.job_finished(), other.newest_step()
        if not over and newest < stop - 1:
            message = f"needs step {stop - 1} of run {other.name!r}, which still trains and is at step {newest}."
            raise InsufficientInformationForRuleInvocation(message)
        with no_refresh(other):
            names = self._names(reader, other)
            theirs = other.statistics_blocks(names, start, stop)
            for block in reader.statistics_blocks(names, start, stop):
                for there in theirs:
                    yield from self._compared(reader, other, block, there)

    def _names(self, reader: TensorReader, other: Trial) -> list[str]:
        """Return the wanted tensors that both runs have."""
        collections = self.collection_names
        if not collections and self.include_regex is None:
            collections = ("all",)
        here, there = (self._wanted(one, collections) for one in (reader, other))
        if not here:
            raise lacking(reader, collections, self.include_regex)
        if not here & there:
            raise InsufficientInformationForRuleInvocation(
                f"needs tensors that both runs have, but run {other.name!r} has none of these: "
                f"{', '.join(sorted(here)[:4])}.",
                hint=f"`cutaway tensors {other.name}` lists its own.",
            )
        return sorted(here & there)

    def _wanted(self, reader: TensorReader, collections: Iterable[str]) -> set[str]:
        found = {name for collection in collections for name in in_collection(reader, collection)}
        return found if self.include_regex is None else found | set(reader.tensor_names(regex=self.include_regex))

    def _compared(
        self, reader: TensorReader, other: Trial, block: StatisticsBlock, there: StatisticsBlock
    ) -> Iterator[Judgement]:
        """Compare the tensors and steps that two blocks share."""
        place = {name: row for row, name in enumerate(there.names)}
        names = [name for name in block.names if name in place]
        steps, own, their = np.intersect1d(block.steps, there.steps, assume_unique=True, return_indices=True)
        if not names or not len(steps):
            return
        row = {name: i for i, name in enumerate(block.names)}
        one = _picked(block, np.array([row[name] for name in names]), own)
        two = _picked(there, np.array([place[name] for name in names]), their)
        differs = ~may_be_close(one, two, RTOL, ATOL)
        full = _correct_by_values(reader, other, names, steps, differs)

        def message(tensor: int, step: int) -> str:
            return (
                f"{names[tensor]} differs from that of run {other.name!r} at step {steps[step]}: "
                f"its l2 norm is {one['l2'][tensor, step]:.6g} here and {two['l2'][tensor, step]:.6g} there."
            )

        def evidence(tensor: int, step: int) -> Mapping[str, Any]:
            return {
                "other": other.name,
                "compared": "values" if full[tensor, step] else "statistics",
                "here": _finite_statistics(one, tensor, step),
                "there": _finite_statistics(two, tensor, step),
            }

        yield Judgement(names, steps, differs, difference(one, two), ATOL, message, evidence)


def _finite_statistics(columns: Mapping[str, Float64Array], row: int, column: int) -> dict[str, float]:
    """Return the statistics of one tensor and step; those of no finite value are left out."""
    return {name: float(found) for name, values in columns.items() if np.isfinite(found := values[row, column])}


def _picked(block: StatisticsBlock, rows: IndexArray, columns: IndexArray) -> dict[str, Float64Array]:
    return {name: block[name][np.ix_(rows, columns)] for name in COLUMNS}


def _correct_by_values(
    reader: TensorReader, other: Trial, names: Sequence[str], steps: Int64Array, differs: BoolArray
) -> BoolArray:
    """Let full values decide where both runs have them; return where they did."""
    decided = np.zeros_like(differs)
    for column in sorted({*saved_places(reader, steps)} & {*saved_places(other, steps)}):
        for row, name in enumerate(names):
            here, there = (value_at(one, name, int(steps[column])) for one in (reader, other))
            if here is not None and there is not None:
                decided[row, column] = True
                differs[row, column] = here.shape != there.shape or not np.allclose(here, there, RTOL, ATOL)
    return decided


def _trials_of(trials: Sequence[Trial | str] | Trial | str | None) -> list[Trial]:
    """Return trials from what may be paths or names of runs, with commas between them."""
    listed: Sequence[Trial | str]
    if isinstance(trials, str):
        listed = words(trials, "other_trials")
    else:
        listed = [trials] if isinstance(trials, Trial) else list(trials or ())
    return [create_trial(one) if isinstance(one, str) else one for one in listed]
