"""How well evaluations did, remembered: the accuracy of each, from its labels and predictions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import CutawayError
from cutaway.run.evaluated import chosen_evaluation, open_evaluated
from cutaway.run.evaluated.columns import CORRECT
from cutaway.run.evaluations import Evaluation
from cutaway.run.file_stamp import FileStamp, stamp_of
from cutaway.run.layout import SOURCE_FILE

__all__ = ["Scores"]

MOST_REMEMBERED = 1000


class Scores:
    """Accuracies of evaluations by where they lie and when they were written. Safe to use from any thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: OrderedDict[tuple[str, FileStamp], float | None] = OrderedDict()

    def accuracy(self, evaluation: Evaluation, column: Callable[[str], pa.ChunkedArray] | None = None) -> float | None:
        """Return the share of samples that are read as they are labelled; None where nothing says it.

        `column` gives columns of an evaluation that is open already: its files are not read again.
        """
        stamp = stamp_of(evaluation.path / SOURCE_FILE)
        if stamp is None:
            return None
        key = (str(evaluation.path), stamp)
        with self._guard:
            if key in self._known:
                return self._known[key]
        found = _accuracy(evaluation, column)
        with self._guard:
            self._known[key] = found
            while len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        return found


def _accuracy(evaluation: Evaluation, column: Callable[[str], pa.ChunkedArray] | None) -> float | None:
    try:
        right = _correct_column(evaluation) if column is None else column(CORRECT)
    except (CutawayError, OSError):
        # Unfinished, damaged or without classes: its own page says so.
        return None
    share = None if right is None else pc.mean(right).as_py()
    return None if share is None else float(share)


def _correct_column(evaluation: Evaluation) -> pa.ChunkedArray | None:
    chosen = chosen_evaluation(evaluation.run, evaluation.number)
    table = open_evaluated(chosen, space="").table([CORRECT]) if chosen.subsets else None
    return table[CORRECT] if table is not None and CORRECT in table.column_names else None
