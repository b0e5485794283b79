"""`Populations`: the evaluations that the studio holds, a few at a time, the least used given up first.

Opens nothing by a path: ids become runs through the index. An evaluation whose files changed is read anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from cutaway.errors import EvaluationError
from cutaway.run.evaluated import EvaluatedPopulation, chosen_evaluation, open_evaluated
from cutaway.run.evaluations import Evaluation, evaluations
from cutaway.run.file_stamp import FileStamp
from cutaway.run.identity import Run
from cutaway.run.layout import SOURCE_FILE, SPACES_FILE
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.populations.scores import Scores

__all__ = ["Populations"]

MOST_LOADED = 3
_DOCUMENTS = (SOURCE_FILE, SPACES_FILE)

_Key = tuple[str, int]
_Stamp = tuple[tuple[str, FileStamp], ...]


class Populations:
    """Gives the populations of evaluations by the id of a run. Safe to use from any thread."""

    def __init__(self, run_of: Callable[[str], Run], *, most: int = MOST_LOADED) -> None:
        self._run_of = run_of
        self._most = most
        self.scores = Scores()
        self._guard = threading.Lock()
        self._held: OrderedDict[_Key, tuple[_Stamp, Loaded]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

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
            while len(self._held) > self._most:
                self._held.popitem(last=False)
        return made

    def close(self) -> None:
        """Give all of them up."""
        with self._guard:
            self._held.clear()


def _chosen(run: Run, number: int | None) -> Evaluation:
    there = evaluations(run)
    if not there:
        hint = f"`cutaway evaluate BINDING MODEL --into {run.name}` makes one."
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
