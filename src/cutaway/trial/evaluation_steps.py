"""Which steps of a run evaluated the model and did not train it."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import BoolArray, Int64Array
from cutaway.run.identity import Run
from cutaway.run.rows import numbers, texts
from cutaway.run.schemas import STEPS
from cutaway.tensors.training_steps import TrainingSteps

__all__ = ["EvaluationSteps"]


class EvaluationSteps:
    """The steps that evaluate so far. Belongs to one thread, and to the attempts that there are."""

    def __init__(self, run: Run) -> None:
        self._table = run.table(STEPS)
        # As the writer of each attempt told its steps apart.
        self._training: dict[tuple[str, int], TrainingSteps] = {}
        self._steps: Int64Array = np.empty(0, np.int64)

    def look(self) -> None:
        """Take in the steps that were listed since the last look."""
        found = []
        for batch in self._table.poll():
            column, limit = batch.content.column, self._table.limit(batch.segment)
            steps, columns = numbers(column("step")), {"mode": texts(column("mode"))}
            columns["optimizer"] = numbers(column("optimizer"))
            training = self._training.setdefault((batch.segment.worker, batch.segment.attempt), TrainingSteps())
            evaluated = ~training.among(columns)
            found.append(steps[evaluated if limit is None else evaluated & (steps < limit)])
        if found:
            self._steps = np.unique(np.concatenate([self._steps, *found]))

    def __len__(self) -> int:
        return len(self._steps)

    def among(self, steps: Int64Array) -> BoolArray:
        """Say of each of some steps whether it is one of them; of a step that is not listed, that it is not."""
        return np.isin(steps, self._steps)
