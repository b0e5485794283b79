"""ClassImbalance: classes that are far rarer than others, or nearly always mispredicted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Int64Array
from cutaway.rules.arguments import Flag, Number, Pattern, Whole
from cutaway.rules.classification import Answers, ClassTensors, RecentAnswers, answers, paired
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection, lacking
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader

__all__ = ["ClassImbalance"]


# So many labels per class, on average, before counts are compared: fewer differ that much by chance.
PER_CLASS = 20
# A class that occurred less often among the last labels is not said to be mispredicted.
FEWEST = 10
# An evaluation may take the classes one after the other; what it is fed does not unbalance the training.
_TRAINS = (ModeKeys.TRAIN, ModeKeys.GLOBAL)


class _Imbalance(NamedTuple):
    """The counts of all labels up to a step; the ratio is 1 while there are too few."""

    step: int
    counts: Int64Array
    ratio: float


class _Misprediction(NamedTuple):
    """The class that is mispredicted most often among the last labels; NaN where none is judged."""

    step: int
    mode: ModeKeys
    true: int
    predicted_as: int
    total: int
    share: float


@dataclass(eq=False, repr=False, kw_only=True)
class ClassImbalance(Rule):
    """Some classes are far rarer than others, or one is nearly always mispredicted.

    What it sees:
        Over all labels of TRAIN steps so far, the most frequent class has more than `threshold_imbalance` times as
        many as the rarest; or of the last `samples` labels of a mode more than the share `threshold_misprediction` of
        one class were predicted wrongly. It looks once there are `samples` labels, and 20 per class on average. Of a
        model that is still learning, whose predictions a loss received, mispredictions count only when it answers no
        better (by 2 %) than when it had seen a quarter of the labels, of at least four times `samples`.

    Why it matters:
        A model can reach a low loss by never naming a rare class. The accuracy hides it; the class's samples pay.

    What to try:
        Draw the rare class more often (a weighted sampler), weigh it higher in the loss, or collect more of it; then
        judge the model by figures per class. Where a frequent class is mispredicted, look at its labels first.

    Needs:
        The collections `labels` and `predictions` in full:
        `include_collections=["labels", "predictions"]`, and a loss that is registered.

    Parameters:
        threshold_imbalance: how many times as many labels the most frequent class may have as the rarest.
        threshold_misprediction: the share of a class's labels that may be predicted wrongly.
        samples: how many labels are gathered before the rule looks.
        argmax: whether labels are one-hot; the class of the highest value is then taken of labels and predictions.
            Predictions with one score per class are understood without it.
        labels_regex: finds tensors of labels, beside those of the collection `labels`.
        predictions_regex: finds tensors of predictions, beside those of the collection `predictions`.
    """

    threshold_imbalance: Number = Number(10, least=1)
    threshold_misprediction: Number = Number(0.7, least=0, most=1)
    samples: Whole = Whole(500, least=1)
    argmax: Flag = Flag(default=False)
    labels_regex: Pattern = Pattern(".*labels")
    predictions_regex: Pattern = Pattern(".*predictions")

    def reset(self) -> None:
        """Forget the labels seen."""
        self._counts: dict[ClassTensors, Int64Array] = {}
        self._recent: dict[tuple[ClassTensors, ModeKeys], RecentAnswers] = {}

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Count labels and answers, and look at the counts after each step."""
        pairs = self._pairs(reader)
        found = answers(reader, pairs, start, stop, one_hot=self.argmax, any_before=bool(self._recent))
        for pair, steps in found.items():
            counted = [self._count_labels(pair, own) for own in steps if own.mode in _TRAINS]
            if counted:
                yield self._judged_counts(pair, counted)
            yield self._judged_answers(pair, [self._answered(pair, own) for own in steps])

    def _pairs(self, reader: TensorReader) -> list[ClassTensors]:
        labels = {*in_collection(reader, "labels"), *_matching(reader, self.labels_regex)}
        predictions = {*in_collection(reader, "predictions"), *_matching(reader, self.predictions_regex)}
        if not labels or not predictions:
            raise lacking(reader, ["labels", "predictions"], full=True, every=True)
        return paired(sorted(labels), sorted(predictions))

    def _count_labels(self, pair: ClassTensors, own: Answers) -> _Imbalance:
        known = self._counts.get(pair, np.zeros(0, np.int64))
        counts = np.bincount(own.labels, minlength=len(known))
        counts[: len(known)] += known
        self._counts[pair] = counts
        there = counts[counts > 0]
        enough = max(self.samples, PER_CLASS * len(there))
        ratio = float(there.max() / there.min()) if there.sum() >= enough else 1.0
        return _Imbalance(own.step, counts, ratio)

    def _answered(self, pair: ClassTensors, own: Answers) -> _Misprediction:
        recent = self._recent.setdefault((pair, own.mode), RecentAnswers())
        recent.add(own, self.samples)
        nothing = _Misprediction(own.step, own.mode, 0, 0, 0, np.nan)
        if recent.seen < self.samples * (4 if pair.of_loss else 1) or (pair.of_loss and not recent.has_settled):
            return nothing
        matrix = recent.matrix(recent.classes)
        counts = matrix.sum(axis=1)
        right = np.where(counts >= FEWEST, np.diagonal(matrix) / np.maximum(counts, 1), np.inf)
        true = int(right.argmin())
        if not np.isfinite(right[true]):
            return nothing
        wrong = matrix[true].copy()
        wrong[true] = 0
        return _Misprediction(own.step, own.mode, true, int(wrong.argmax()), int(counts[true]), 1 - float(right[true]))

    def _judged_counts(self, pair: ClassTensors, counted: list[_Imbalance]) -> Judgement:
        def message(i: int) -> str:
            rarest, most, counts = *_extremes(counted[i].counts), counted[i].counts
            return (
                f"Class {rarest} is rare: {counts[rarest]} of {counts.sum()} labels up to step {counted[i].step} are "
                f"its ({counts[rarest] / counts.sum():.1%}), while class {most} has {counts[most]}, "
                f"{counted[i].ratio:.3g} times as many; {self.threshold_imbalance:g} times are allowed."
            )

        def evidence(i: int) -> dict[str, Any]:
            rarest, most = _extremes(counted[i].counts)
            return {"class": rarest, "most_frequent": most, "counts": counted[i].counts[:100].tolist()}

        ratios = np.array([one.ratio for one in counted])
        steps, limit = [one.step for one in counted], self.threshold_imbalance
        return Judgement.of_one(pair.labels, steps, ratios > limit, ratios, limit, message, evidence)

    def _judged_answers(self, pair: ClassTensors, answered: list[_Misprediction]) -> Judgement:
        def message(i: int) -> str:
            one = answered[i]
            return (
                f"Class {one.true} is mispredicted: {one.share:.0%} of its last {one.total} labels in {one.mode.name} "
                f"steps up to step {one.step} were predicted wrongly, most often as class {one.predicted_as}; "
                f"{self.threshold_misprediction:.0%} are allowed."
            )

        def evidence(i: int) -> dict[str, Any]:
            return {"class": answered[i].true, "predicted_as": answered[i].predicted_as, "labels": answered[i].total}

        shares = np.array([one.share for one in answered])
        steps, limit = [one.step for one in answered], self.threshold_misprediction
        return Judgement.of_one(pair.predictions, steps, shares > limit, shares, limit, message, evidence)


def _matching(reader: TensorReader, regex: str | None) -> list[str]:
    return [] if regex is None else list(reader.tensor_names(regex=regex))


def _extremes(counts: Int64Array) -> tuple[int, int]:
    """Return the rarest of the classes that occur, and the most frequent."""
    return int(np.where(counts > 0, counts, np.iinfo(np.int64).max).argmin()), int(counts.argmax())
