"""What a classifier answered: true classes beside the classes that it named, over the last labels.

Reads class numbers, one-hot vectors, scores per class and scores of two classes; refuses everything else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, Int64Array
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.selecting import lacking, saved_places, value_at
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader

__all__ = ["MOST_CLASSES", "Answers", "ClassTensors", "RecentAnswers", "answers", "class_numbers", "paired"]


# More are words of a vocabulary rather than classes: some of those are always rare.
MOST_CLASSES = 1_000
# A model that answers rightly more often, by this share, than when it had seen a quarter as much is still learning.
STILL_LEARNING = 0.02

_OF_LOSS = re.compile(r"[Ll]oss_input_\d+$")


class ClassTensors(NamedTuple):
    """A tensor of labels and the predictions that belong to it."""

    labels: str
    predictions: str

    @property
    def of_loss(self) -> bool:
        """Whether a loss received them, from a model that is still learning."""
        return _OF_LOSS.search(self.predictions) is not None


class Answers(NamedTuple):
    """The true classes of one step's labels, and those that the model named."""

    step: int
    mode: ModeKeys
    labels: Int64Array
    predictions: Int64Array


def paired(labels: Sequence[str], predictions: Sequence[str]) -> list[ClassTensors]:
    """Put labels and predictions together in the order of their names.

    Raises `InsufficientInformationForRuleInvocation` where there are more of the one than of the other.
    """
    if len(labels) != len(predictions):
        raise InsufficientInformationForRuleInvocation(
            f"needs one tensor of predictions for each of labels, but found {', '.join(predictions) or 'none'} for "
            f"{', '.join(labels) or 'none'}.",
            hint="Name them with the rule's parameters.",
        )
    return [ClassTensors(*pair) for pair in zip(sorted(labels), sorted(predictions), strict=True)]


def answers(
    reader: TensorReader,
    pairs: Sequence[ClassTensors],
    start: int,
    stop: int,
    *,
    one_hot: bool = False,
    any_before: bool = False,
) -> Mapping[ClassTensors, list[Answers]]:
    """Return the answers of the steps with `start <= step < stop` at which both tensors were saved in full.

    Raises `InsufficientInformationForRuleInvocation` where there are none, unless there were `any_before`.
    """
    found: dict[ClassTensors, list[Answers]] = {}
    refused = ""
    steps = reader.step_window(start, stop)
    places = saved_places(reader, steps["step"])
    for pair in pairs:
        for place in places:
            step = int(steps["step"][place])
            labels, predictions = value_at(reader, pair.labels, step), value_at(reader, pair.predictions, step)
            if labels is None or predictions is None:
                continue
            named = class_numbers(labels, predictions, one_hot=one_hot, logits="Logits" in pair.predictions)
            if named is None:
                refused = pair.labels
            else:
                found.setdefault(pair, []).append(Answers(step, ModeKeys[steps["mode"][place]], *named))
    if not found and refused:
        raise InsufficientInformationForRuleInvocation(
            f"needs labels that are numbers of at most {MOST_CLASSES:,} classes, with predictions to match; those of "
            f"{refused!r} are not.",
            hint="Name others with the rule's parameters.",
        )
    if not found and not any_before:
        raise lacking(reader, ["labels", "predictions"], full=True, every=True)
    return found


def class_numbers(
    labels: Array, predictions: Array, *, one_hot: bool = False, logits: bool = False
) -> tuple[Int64Array, Int64Array] | None:
    """Return true and named classes, one entry a label; None where the tensors do not speak of classes.

    Labels below 0 are left out, as losses do. Of scores per class the highest counts; of the scores of two classes,
    one number a label, those above a half, or above 0 where they are `logits` or lie outside 0 to 1.

    >>> class_numbers(np.array([1, 0, -100]), np.array([[0.2, 0.8], [0.4, 0.6], [1.0, 0.0]]))
    (array([1, 0]), array([1, 1]))
    """
    if one_hot and labels.ndim > 1 and labels.shape[-1] > 1:
        labels = labels.argmax(-1)
    if labels.ndim > 1 and labels.shape[-1] == 1:
        labels = labels[..., 0]
    if predictions.ndim == labels.ndim + 1:
        predictions = _class_of_highest_score(labels.shape, predictions)
    if labels.shape != predictions.shape or not labels.size:
        return None
    true, named = _as_whole_numbers(labels), _as_whole_numbers(predictions)
    if true is None or (named is None and (true.max() > 1 or labels.size != labels.shape[0])):
        return None
    if named is None:
        scores = np.nan_to_num(predictions.astype(np.float64))
        among = 0.0 if logits or scores.min() < 0 or scores.max() > 1 else 0.5
        named = (scores > among).astype(np.int64)
    kept = (true >= 0) & (named >= 0)
    true, named = true[kept], named[kept]
    return (true, named) if true.size and max(true.max(), named.max()) < MOST_CLASSES else None


class RecentAnswers:
    """The last labels of one mode with their answers, at least `most` where so many were seen."""

    def __init__(self) -> None:
        self.seen = 0
        self.classes = 0
        self._held: deque[Answers] = deque()
        self._count = 0
        self._right = 0
        self._seen_at: list[int] = []
        self._share_at: list[float] = []

    def add(self, own: Answers, most: int) -> None:
        """Take in the answers of the next step; let those go that are not among the last `most`."""
        self._held.append(own)
        self.seen += len(own.labels)
        self.classes = max(self.classes, int(own.labels.max()) + 1, int(own.predictions.max()) + 1)
        self._weigh(own, 1)
        while self._count - len(self._held[0].labels) >= most:
            self._weigh(self._held.popleft(), -1)
        self._seen_at.append(self.seen)
        self._share_at.append(self._right / self._count)

    @property
    def has_settled(self) -> bool:
        """Whether the model is no better, or hardly, than when it had seen a quarter of the labels so far."""
        earlier = bisect_right(self._seen_at, self.seen / 4) - 1
        return earlier >= 0 and self._share_at[-1] - self._share_at[earlier] <= STILL_LEARNING

    def matrix(self, classes: int) -> Int64Array:
        """Return how often each true class (row) was predicted as each class (column)."""
        labels = np.concatenate([one.labels for one in self._held])
        predictions = np.concatenate([one.predictions for one in self._held])
        return np.bincount(labels * classes + predictions, minlength=classes**2).reshape(classes, classes)

    def _weigh(self, own: Answers, sign: int) -> None:
        self._count += sign * len(own.labels)
        self._right += sign * int((own.labels == own.predictions).sum())


def _class_of_highest_score(shape: tuple[int, ...], scores: Array) -> Array:
    """Take the class of the highest score along the axis that the labels lack: PyTorch's second, else the last."""
    for axis in (1, -1):
        if tuple(np.delete(scores.shape, axis)) == shape:
            return scores[..., 0] if scores.shape[axis] == 1 else scores.argmax(axis)
    return scores


def _as_whole_numbers(array: Array) -> Int64Array | None:
    """Return the values as whole numbers, or None where they are not."""
    if array.dtype.kind in "iub":
        return array.reshape(-1).astype(np.int64)
    flat = array.reshape(-1)
    if array.dtype.kind != "f" or not np.isfinite(flat).all() or (flat != np.round(flat)).any():
        return None
    return flat.astype(np.int64)
