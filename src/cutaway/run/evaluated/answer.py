"""`ModelAnswer`: which of a model's predictions is analysed, what it is compared with, and which classes it tells."""

from __future__ import annotations

from dataclasses import dataclass

from cutaway.arrays import Array
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.run.evaluations import Evaluation
from cutaway.run.sources import Pair, Source
from cutaway.tensors.softmax import softmax

__all__ = ["ModelAnswer", "answer_of", "softmax"]


@dataclass(frozen=True)
class ModelAnswer:
    """The prediction that analyses are about, the ground truth beside it, and the classes that it tells apart.

    Where there is no class for each sample, `classes` is empty and `reason` says why.
    """

    prediction: str | None
    truth: str | None
    classes: tuple[str, ...] = ()
    probabilities: bool = False
    reason: str = ""

    def likely(self, scores: Array) -> Array:
        """Return what the model gave as probabilities of the classes, which lie on the last axis."""
        return scores if self.probabilities else softmax(scores)

    @property
    def label_column(self) -> str:
        """Where the classes of the ground truth stand in a subset's file."""
        return f"ground_truth.{self.truth}.label"

    @property
    def prediction_column(self) -> str:
        """Where the classes of the prediction stand in a subset's file."""
        return f"prediction.{self.prediction}.label"

    @property
    def score_column(self) -> str:
        """Where a score for each class stands in a subset's file."""
        return f"prediction.{self.prediction}"


def answer_of(evaluation: Evaluation, prediction: str | None = None) -> ModelAnswer:
    """Return which prediction is analysed: the named one, else the first that has one class a sample."""
    source = evaluation.source
    truths, predictions = source.ground_truths, list(source.predictions.values())
    if prediction is not None and prediction not in predictions:
        raise ConfigurationError(
            f"There is no prediction {prediction!r}.",
            hint=f"{did_you_mean(prediction, predictions)} There are {', '.join(predictions)}.",
        )
    candidates = predictions if prediction is None else [prediction]
    for name in candidates:
        pair = source.pairs.get(name, Pair())
        # A model whose answers are all NaN still has labels to be compared with.
        columns = {f"prediction.{name}.label", f"ground_truth.{truths.get(name)}.label"}
        if pair.classes and any(_is_label(evaluation, column) for column in columns):
            classes = source.class_names.get(f"prediction.{name}") or tuple(map(str, range(pair.classes)))
            return ModelAnswer(name, truths.get(name), classes, probabilities=pair.probabilities)
    first = candidates[0] if candidates else None
    return ModelAnswer(first, truths.get(first or ""), reason=_no_classes(source, first))


def _is_label(evaluation: Evaluation, column: str) -> bool:
    """Whether a column holds a class for at least one sample; a segmentation has one for each place instead."""
    for subset in evaluation.subsets:
        if column in evaluation.column_names(subset):
            held = evaluation.table(subset, [column])[column]
            if held.null_count < len(held):
                return True
    return False


def _no_classes(source: Source, prediction: str | None) -> str:
    if prediction not in source.ground_truths:
        return "no prediction is compared with a ground truth"
    if source.pairs.get(prediction or "", Pair()).classes:
        return "the model tells classes apart at each place of a sample, not one class for each sample"
    return "the model's answer is not one class for each sample, with a score for each of several classes"
