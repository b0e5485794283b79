"""What each argument of somebody's metric, loss or visualizer is given. Calls none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from cutaway.dataset import Dataset
from cutaway.dataset.functions import Function
from cutaway.errors import BindingError, did_you_mean

__all__ = ["GROUND_TRUTH", "INPUT", "PREDICTION", "Sources", "wire_arguments"]

INPUT, GROUND_TRUTH, PREDICTION = "input", "ground_truth", "prediction"

# What people call these where there is only one of them.
WORDS: Mapping[str, frozenset[str]] = {
    GROUND_TRUTH: frozenset(
        ("ground_truth", "ground_truths", "gt", "gts", "y_true", "label", "labels", "target", "targets", "y")
    ),
    PREDICTION: frozenset(("prediction", "predictions", "pred", "preds", "y_pred", "output", "outputs", "logits")),
    INPUT: frozenset(("input", "inputs", "data", "x", "image", "images", "text_data")),
}


@dataclass(frozen=True)
class Sources:
    """The names that arguments can be given, by kind; each in its order."""

    inputs: Sequence[str]
    ground_truths: Sequence[str]
    predictions: Sequence[str]

    @classmethod
    def between(cls, dataset: Dataset, predictions: Sequence[str]) -> Self:
        """Return those of a data set, with the predictions of a model."""
        inputs, truths = ([one.name for one in fields] for fields in (dataset.inputs, dataset.ground_truths))
        return cls(inputs, truths, predictions)

    def of(self, kind: str) -> Sequence[str]:
        """Return the names of one kind."""
        return {INPUT: self.inputs, GROUND_TRUTH: self.ground_truths, PREDICTION: self.predictions}[kind]

    def all(self) -> list[str]:
        """Return every source as `<kind>.<name>`."""
        return [f"{kind}.{name}" for kind in (PREDICTION, GROUND_TRUTH, INPUT) for name in self.of(kind)]


def wire_arguments(what: str, function: Function, sources: Sources) -> dict[str, str]:
    """Return `<kind>.<name>` for each argument of a function. Raises `BindingError` for one that nothing is known for.

    The integration test's word comes first, then equal names, then the words that people use.
    """
    return {argument: _source(what, function, argument, sources) for argument in function.arguments}


def _source(what: str, function: Function, argument: str, sources: Sources) -> str:
    told = function.wiring.get(argument)
    if told is not None:
        return _source_of_wire(what, function, argument, told, sources)
    same = [f"{kind}.{argument}" for kind in (PREDICTION, GROUND_TRUTH, INPUT) if argument in sources.of(kind)]
    # A ground truth and a prediction often share a name; the words that say which one come next.
    if len(same) == 1:
        return same[0]
    kind = next((kind for kind, words in WORDS.items() if argument.lower() in words), None)
    if kind is not None and len(sources.of(kind)) == 1:
        return f"{kind}.{sources.of(kind)[0]}"
    start = f"{_place_prefix(function)}Argument {argument!r} of {what} {function.name!r} "
    raise BindingError(_unknown(start, argument, same, kind, sources))


def _source_of_wire(what: str, function: Function, argument: str, told: str, sources: Sources) -> str:
    known = sources.all()
    if told in known:
        return told
    raise BindingError(
        f"{_place_prefix(function)}Argument {argument!r} of {what} {function.name!r} is wired to {told!r}, which there "
        "is not.",
        hint=f"{did_you_mean(told, known)} There are {', '.join(known)}.",
    )


def _unknown(start: str, argument: str, same: Sequence[str], kind: str | None, sources: Sources) -> str:
    listed = ", ".join(sources.all()) or "nothing"
    if same:
        return f"{start}could be {' or '.join(same)}. Show which one in the integration test, or rename the argument."
    if kind is not None and sources.of(kind):
        several = ", ".join(sources.of(kind))
        return f"{start}could be any {kind.replace('_', ' ')}: {several}. Name the argument like the one it takes."
    if kind is not None:
        return f"{start}needs a {kind.replace('_', ' ')}, and none is bound. There are {listed}."
    names = [name for one in (PREDICTION, GROUND_TRUTH, INPUT) for name in sources.of(one)]
    hint = did_you_mean(argument, names)
    return (
        f"{start}is none of the known names.{hint} There are {listed}. "
        "Name the argument like one of them, or `ground_truth`, `prediction` or `input`."
    )


def _place_prefix(function: Function) -> str:
    return f"{function.place}: " if function.place else ""
