"""Confusion: classes that the model confuses with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Float64Array, Int64Array
from cutaway.errors import ConfigurationError
from cutaway.rules.arguments import Number, OptionalWhole
from cutaway.rules.classification import Answers, ClassTensors, RecentAnswers, answers, paired
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection, lacking
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader

__all__ = ["Confusion"]


# What a loss received is judged over so many labels, and so many per class where there are more than ten.
SAMPLES = 500
PER_CLASS = 50
# A class that occurred less often among them is not judged.
FEWEST = 10
# A share of few labels must miss its bound by so many standard errors, so that chance does not fire.
ERRORS = 3


class _WorstClass(NamedTuple):
    """What the matrix says at one step: the class that is worst off, and whether that is too bad."""

    step: int
    fires: bool
    true: int
    predicted_as: int
    row: Int64Array

    @property
    def right(self) -> float:
        return float(self.row[self.true] / max(self.row.sum(), 1))

    @property
    def wrong(self) -> float:
        return float(self.row[self.predicted_as] / max(self.row.sum(), 1))


@dataclass(eq=False, repr=False, kw_only=True)
class Confusion(Rule):
    """The model takes the samples of one class for those of another.

    What it sees:
        In the confusion matrix, each row divided by the labels of its true class, a share on the diagonal is below
        `min_diag` or one beside it above `max_off_diag`. Tensors that were saved under the names `labels` and
        `predictions` are judged step by step. What a loss received from a model that is still learning is judged over
        its last 500 labels of a mode (50 per class where that is more), classes with at least 10 of them, by a margin
        of three standard errors, and only when the model answers no better (by 2 %) than when it had seen a quarter
        of the labels.

    Why it matters:
        A good accuracy can hide a class that is nearly always missed, most of all a rare one.

    What to try:
        Look at samples of the two classes that the message names: wrong labels and two names for one thing are the
        usual causes. Give the weaker class more samples or more weight in the loss, and features that tell the two
        apart (a higher resolution, less aggressive augmentation).

    Needs:
        The collections `labels` and `predictions` in full:
        `include_collections=["labels", "predictions"]`, and a loss that is registered.

    Parameters:
        category_no: the number of classes; by default as many as the largest class number seen says.
        labels: the name of the tensor of labels; `labels` stands for the collection where there is no such tensor.
        predictions: the name of the tensor of predictions, class numbers or a score per class; `predictions` stands
            for the collection where there is no such tensor.
        labels_collection: a collection to take the labels from instead.
        predictions_collection: a collection to take the predictions from instead.
        min_diag: the share of a class's labels that must be recognised.
        max_off_diag: the largest share of a class's labels that may be predicted as one other class.
    """

    category_no: OptionalWhole = OptionalWhole(least=1)
    labels: str = "labels"
    predictions: str = "predictions"
    labels_collection: str | None = None
    predictions_collection: str | None = None
    min_diag: Number = Number(0.9, least=0, most=1)
    max_off_diag: Number = Number(0.1, least=0, most=1)

    def reset(self) -> None:
        """Forget the labels seen."""
        self._recent: dict[tuple[ClassTensors, ModeKeys], RecentAnswers] = {}

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Count answers and look at the matrix after each step."""
        pairs = self._pairs(reader)
        found = answers(reader, pairs, start, stop, any_before=bool(self._recent))
        self._check_categories(found)
        for pair, steps in found.items():
            yield self._judged(pair, [self._seen(pair, own) for own in steps])

    def _pairs(self, reader: TensorReader) -> list[ClassTensors]:
        labels = _chosen(reader, self.labels, self.labels_collection, "labels")
        predictions = _chosen(reader, self.predictions, self.predictions_collection, "predictions")
        if not labels or not predictions:
            named = [one for one in (self.labels, self.predictions) if one not in ("labels", "predictions")]
            collections = [self.labels_collection or "labels", self.predictions_collection or "predictions"]
            raise lacking(reader, collections, "|".join(f"^{one}$" for one in named) or None, full=True, every=True)
        return paired(labels, predictions)

    def _check_categories(self, found: Mapping[ClassTensors, list[Answers]]) -> None:
        seen = [array for steps in found.values() for own in steps for array in (own.labels, own.predictions)]
        largest = max((int(array.max()) for array in seen), default=0)
        if self.category_no is not None and largest >= self.category_no:
            raise ConfigurationError(
                f"`category_no={self.category_no}` says that classes are 0 to {self.category_no - 1}, but there is a "
                f"class {largest}.",
                hint=f"Leave it out, or set category_no={largest + 1}.",
            )

    def _seen(self, pair: ClassTensors, own: Answers) -> _WorstClass:
        """Take in the answers of a step, and say what the matrix looks like then."""
        if not pair.of_loss:
            alone = self._recent[pair, own.mode] = RecentAnswers()
            alone.add(own, 1)
            return self._looked(own.step, alone, fewest=1, errors=0)
        recent = self._recent.setdefault((pair, own.mode), RecentAnswers())
        most = max(SAMPLES, PER_CLASS * recent.classes)
        recent.add(own, most)
        if recent.seen < 4 * most or not recent.has_settled:
            return _WorstClass(own.step, fires=False, true=0, predicted_as=0, row=np.zeros(1, np.int64))
        return self._looked(own.step, recent, fewest=FEWEST, errors=ERRORS)

    def _looked(self, step: int, recent: RecentAnswers, *, fewest: int, errors: float) -> _WorstClass:
        matrix = recent.matrix(self.category_no or recent.classes)
        rows = matrix.sum(axis=1)
        judged = rows >= fewest
        counts = np.maximum(rows, 1)
        right = np.where(judged, np.diagonal(matrix) / counts, 1.0)
        wrong = np.where(judged[:, None], matrix / counts[:, None], 0.0)
        np.fill_diagonal(wrong, 0.0)
        low = right < self.min_diag - errors * _error(self.min_diag, counts)
        high = wrong.max(axis=1) > self.max_off_diag + errors * _error(self.max_off_diag, counts)
        sick = low | high
        true = int(np.argmin(np.where(sick, right, 2.0) if sick.any() else right))
        return _WorstClass(step, bool(sick.any()), true, int(wrong[true].argmax()), matrix[true])

    def _judged(self, pair: ClassTensors, seen: list[_WorstClass]) -> Judgement:
        def message(i: int) -> str:
            one = seen[i]
            bound = (
                f"below {self.min_diag:.0%}"
                if one.right < self.min_diag
                else f"but more than {self.max_off_diag:.0%} of it is predicted as one other class"
            )
            return (
                f"Class {one.true} is recognised in {one.right:.0%} of its {one.row.sum()} labels up to step "
                f"{one.step}, {bound}: most often ({one.wrong:.0%}) it is predicted as class {one.predicted_as}."
            )

        def evidence(i: int) -> dict[str, Any]:
            one = seen[i]
            details = {"class": one.true, "predicted_as": one.predicted_as, "row": one.row[:100].tolist()}
            if one.right < self.min_diag:
                return {**details, "predicted_as_share": one.wrong}
            return {**details, "value": one.wrong, "threshold": self.max_off_diag}

        return Judgement.of_one(
            pair.predictions,
            [one.step for one in seen],
            [one.fires for one in seen],
            [one.right for one in seen],
            self.min_diag,
            message,
            evidence,
        )


def _chosen(reader: TensorReader, name: str, collection: str | None, usual: str) -> list[str]:
    """Return the tensors of a collection, or of that name, or of the usual collection where the name is its own."""
    if collection is not None:
        return in_collection(reader, collection)
    if name in reader.tensor_names():
        return [name]
    return in_collection(reader, usual) if name == usual else []


def _error(share: float, counts: Int64Array) -> Float64Array:
    """The standard error of a share of so many."""
    found: Float64Array = np.sqrt(share * (1 - share) / counts)
    return found
