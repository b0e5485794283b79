"""`Populations`: the evaluations that the studio holds, a few at a time, the least used given up first.

Opens nothing by a path: ids become runs through the index. An evaluation whose files changed is read anew.
How well evaluations did is remembered of many more of them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

import pyarrow as pa

from cutaway.errors import CutawayError, EvaluationError
from cutaway.run.command_words import run_word
from cutaway.run.evaluated import EvaluatedPopulation, chosen_evaluation, open_evaluated
from cutaway.run.evaluated.columns import CORRECT, SUBSET
from cutaway.run.evaluations import Evaluation, evaluations
from cutaway.run.file_stamp import FileStamp, stamp_of
from cutaway.run.identity import Run
from cutaway.run.layout import SOURCE_FILE, SPACES_FILE
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.populations.loaded import Loaded

__all__ = ["Populations", "Scores"]

MOST_LOADED = 3
MOST_REMEMBERED = 1000
_DOCUMENTS = (SOURCE_FILE, SPACES_FILE)

_Key = tuple[str, int]
_Stamp = tuple[tuple[str, FileStamp], ...]


class Populations:
    """Gives the populations of evaluations by the id of a run. Safe to use from any thread."""

    def __init__(self, run_of: Callable[[str], Run]) -> None:
        self._run_of = run_of
        self.scores = Scores()
        self._guard = threading.Lock()
        self._held: OrderedDict[_Key, tuple[_Stamp, Loaded]] = OrderedDict()

    def of(self, run_id: str, evaluation: int | None = None) -> Loaded:
        """Return the population of an evaluation of a run, by default the last that is finished.

        Refused where there is no such evaluation; raises `EvaluationError` where it is unfinished or damaged.
        """
        return self.of_run(self._run_of(run_id), evaluation)

    def of_run(self, run: Run, evaluation: int | None = None) -> Loaded:
        """Return the population of an evaluation of a run that is open already."""
        chosen = _chosen(run, evaluation)
        key, stamp = (str(run.path), chosen.number), _stamp(chosen)
        with self._guard:
            found = self._held.get(key)
            if found is not None and found[0] == stamp:
                self._held.move_to_end(key)
                return found[1]
        # Not under the lock: a slow disk costs only who asks for what lies on it.
        made = Loaded(_population(chosen))
        with self._guard:
            self._held[key] = stamp, made
            self._held.move_to_end(key)
            while len(self._held) > MOST_LOADED:
                self._held.popitem(last=False)
        return made

    def close(self) -> None:
        """Give all of them up."""
        with self._guard:
            self._held.clear()


def _chosen(run: Run, number: int | None) -> Evaluation:
    there = evaluations(run)
    if not there:
        hint = f"`cutaway evaluate BINDING MODEL --into {run_word(run.path, relative=True)}` makes one."
        raise Refusal(404, "no-evaluation", f"Run {run.name!r} has no evaluation.", hint)
    if number is not None and number not in (one.number for one in there):
        listed = ", ".join(str(one.number) for one in there)
        raise Refusal(404, "no-evaluation", f"Run {run.name!r} has no evaluation {number}.", f"It has {listed}.")
    return chosen_evaluation(run, number)


def _population(evaluation: Evaluation) -> EvaluatedPopulation:
    if not evaluation.subsets:
        raise EvaluationError(
            f"Evaluation {evaluation.number} of run {evaluation.run.name!r} has no table of samples.",
            hint="Evaluate again.",
        )
    # Without latent vectors there is no map, but still samples.
    return open_evaluated(evaluation, space=None if evaluation.spaces else "")


def _stamp(evaluation: Evaluation) -> _Stamp:
    """Return what changes when the samples do; what analyses keep beside them does not belong to it."""
    return tuple(
        (path.name, FileStamp.of(path))
        for path in sorted(evaluation.path.iterdir())
        if path.name in _DOCUMENTS or (path.suffix == ".parquet" and "." not in path.stem)
    )


class Scores:
    """Accuracies of evaluations, subset by subset, by where they lie and when they were written.

    Safe to use from any thread.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: OrderedDict[tuple[str, FileStamp], dict[str, float]] = OrderedDict()

    def accuracies(self, evaluation: Evaluation, held: Loaded | None = None) -> dict[str, float]:
        """Return for each subset the share of right predictions among its labelled samples; without what nothing says.

        `held` is the evaluation where it is open already: its files are not read again.
        """
        stamp = stamp_of(evaluation.path / SOURCE_FILE)
        if stamp is None:
            return {}
        key = (str(evaluation.path), stamp)
        with self._guard:
            if key in self._known:
                return self._known[key]
        found = _accuracies(evaluation, held)
        with self._guard:
            self._known[key] = found
            while len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        return found


def _accuracies(evaluation: Evaluation, held: Loaded | None) -> dict[str, float]:
    try:
        table = _answers(evaluation) if held is None else held.select([SUBSET, CORRECT])
    except (CutawayError, OSError):
        # Unfinished, damaged or without classes: its own page says so.
        return {}
    if CORRECT not in table.column_names:
        return {}
    means = table.group_by(SUBSET).aggregate([(CORRECT, "mean")]).to_pylist()
    return {str(one[SUBSET]): one[f"{CORRECT}_mean"] for one in means if one[f"{CORRECT}_mean"] is not None}


def _answers(evaluation: Evaluation) -> pa.Table:
    chosen = chosen_evaluation(evaluation.run, evaluation.number)
    return open_evaluated(chosen, space="").table([SUBSET, CORRECT]) if chosen.subsets else pa.table({})
