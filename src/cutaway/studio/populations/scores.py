"""How well evaluations did, remembered: the accuracy of each, from its labels and predictions."""

from __future__ import annotations

import threading
from collections import OrderedDict

import pyarrow.compute as pc

from cutaway.analysis.origin import chosen_evaluation
from cutaway.analysis.run_samples import answer_of
from cutaway.analysis.sample_tables import sample_table
from cutaway.analysis.samples import CORRECT
from cutaway.errors import CutawayError
from cutaway.run.evaluations import Evaluation

__all__ = ["Scores"]

MOST_REMEMBERED = 1000


class Scores:
    """Accuracies of evaluations by where they lie and when they were written. Safe to use from any thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: OrderedDict[tuple[str, int], float | None] = OrderedDict()

    def accuracy(self, evaluation: Evaluation) -> float | None:
        """Return the share of samples that are read as they are labelled; None where nothing says it."""
        try:
            key = (str(evaluation.path), (evaluation.path / "source.json").stat().st_mtime_ns)
        except OSError:
            return None
        with self._guard:
            if key in self._known:
                return self._known[key]
        found = _accuracy(evaluation)
        with self._guard:
            self._known[key] = found
            while len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        return found


def _accuracy(evaluation: Evaluation) -> float | None:
    try:
        chosen = chosen_evaluation(evaluation.run, evaluation.number)
        table = sample_table(chosen, chosen.subsets, answer_of(chosen), [CORRECT]) if chosen.subsets else None
    except (CutawayError, OSError):
        # Unfinished or damaged: its own page says so.
        return None
    if table is None or CORRECT not in table.column_names:
        return None
    share = pc.mean(table[CORRECT]).as_py()
    return None if share is None else float(share)
