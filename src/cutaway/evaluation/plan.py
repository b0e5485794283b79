"""Which losses, metrics and labels an evaluation has: what was asked for, what is bound, or what the first batch says.

The decision is made once and written down, so that an evaluation that is taken up again goes on as it began.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.calling import defined_at, own_name
from cutaway.dataset.functions import Field, Function, Loss, Metric
from cutaway.dataset.losses import default_losses
from cutaway.dataset.metrics import default_metrics
from cutaway.errors import BindingError, ConfigurationError, did_you_mean
from cutaway.evaluation.arguments import Sources, wire_arguments
from cutaway.evaluation.defaults import default_loss, default_metric, look_at_pair, loss_of_training
from cutaway.evaluation.scoring import Bound, Labels
from cutaway.evaluation.wiring import Wiring
from cutaway.models import ModelDescription, TensorSpec
from cutaway.run.sources import Pair

__all__ = ["FunctionChoice", "Plan", "class_axis", "look_at_pairs", "make_plan"]

FunctionChoice = str | Function | Callable[..., Any]


@dataclass(frozen=True)
class Plan:
    """What is computed of each batch, how it was decided, and what the first batch showed."""

    bound: tuple[Bound, ...] = ()
    labels: tuple[Labels, ...] = ()
    notes: tuple[str, ...] = ()
    pairs: Mapping[str, Pair] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `source.json`."""
        return {
            "losses": [one.name for one in self.bound if one.kind == "loss"],
            "metrics": [one.name for one in self.bound if one.kind == "metric"],
            "directions": {one.name: _direction(one.function) for one in self.bound if one.kind == "metric"},
            "notes": list(self.notes),
            "pairs": {name: pair._asdict() for name, pair in self.pairs.items()},
            "labels": {one.source: {"classes": one.classes, "names": list(one.names)} for one in self.labels},
        }


def _direction(metric: Function) -> str | dict[str, str] | None:
    """Which way a metric is better, by key where it has several; None where nobody says."""
    direction = getattr(metric, "direction", None)
    if isinstance(direction, Mapping):
        return {key: str(one) for key, one in direction.items()}
    return None if direction is None else str(direction)


def class_axis(dataset: Dataset, description: ModelDescription, wiring: Wiring, prediction: str) -> int:
    """Return the axis of the classes of a prediction, the batch being axis 0: as it was declared, else the model's."""
    declared = next((one for one in dataset.predictions if one.name == prediction), None)
    if declared is not None and declared.channel_dim != -1:
        return declared.channel_dim
    spec = _output_spec(description, wiring, prediction)
    return -1 if spec.channel_axis is None else spec.channel_axis


def _output_spec(description: ModelDescription, wiring: Wiring, prediction: str) -> TensorSpec:
    return next(spec for spec in description.outputs if wiring.predictions[spec.name] == prediction)


def look_at_pairs(wiring: Wiring, arrays: Mapping[str, Array], axis: Callable[[str], int]) -> dict[str, Pair]:
    """Look at the first batch: what is each prediction to its ground truth?"""
    found = {}
    for prediction, truth in wiring.ground_truths.items():
        values = arrays[f"prediction.{prediction}"]
        place = axis(prediction) if abs(axis(prediction)) < values.ndim else -1
        found[prediction] = look_at_pair(arrays[f"ground_truth.{truth}"], values, place)
    return found


@dataclass(frozen=True)
class _Planning:
    """All that the decision is made from."""

    dataset: Dataset
    description: ModelDescription
    wiring: Wiring
    pairs: Mapping[str, Pair]
    notes: list[str]

    def functions(self, kind: str, asked: Sequence[FunctionChoice] | None) -> list[Bound]:
        """Return the losses or metrics: those asked for, else those bound, else the default ones."""
        own = self._own(kind)
        if asked is not None:
            return [bound for one in asked for bound in self._asked(kind, one)]
        if own:
            return [Bound(kind, one, self.wiring.functions[f"{kind}.{one.name}"]) for one in own]
        return self._defaults(kind)

    def _asked(self, kind: str, one: FunctionChoice) -> list[Bound]:
        if isinstance(one, str):
            bound = next((each for each in self._own(kind) if each.name == one), None)
            if bound is None:
                if not self.wiring.ground_truths:
                    message = "compares a prediction with a ground truth, and no prediction has one."
                    raise BindingError(f"{kind.capitalize()} {one!r} {message}")
                return [self._ours(kind, one, prediction) for prediction in self.wiring.ground_truths]
            one = bound
        function = one if isinstance(one, Function) else _function(kind, one)
        sources = Sources.between(self.dataset, list(self.wiring.predictions.values()))
        arguments = wire_arguments(kind, function, sources)
        return [Bound(kind, function, arguments)]

    def _defaults(self, kind: str) -> list[Bound]:
        carried = loss_of_training(self.description.training) if kind == "loss" and len(self.pairs) == 1 else None
        found = []
        for prediction, pair in self.pairs.items():
            name = carried or (default_loss(pair) if kind == "loss" else default_metric(pair))
            truth = self.wiring.ground_truths[prediction]
            if name is None:
                self.notes.append(f"No {kind}: {prediction!r} and {truth!r} cannot be compared. Bind one of your own.")
                continue
            found.append(self._ours(kind, name, prediction))
            self.notes.append(f"No {kind} is bound, so {name} of {prediction!r}: {self._why(carried, pair, kind)}.")
        return found

    def _why(self, carried: str | None, pair: Pair, kind: str) -> str:
        if carried:
            return "the model was trained with it"
        if not pair.classes:
            return "its ground truth is no class"
        if kind == "metric":
            return f"it tells {pair.classes} classes apart"
        return "its rows are probabilities" if pair.probabilities else "its rows are no probabilities, so logits"

    def _ours(self, kind: str, name: str, prediction: str) -> Bound:
        axis = class_axis(self.dataset, self.description, self.wiring, prediction)
        ours: Sequence[Function] = (
            default_losses(axis)
            if kind == "loss"
            else default_metrics(axis, self._class_names(prediction), logits=self._is_logits(prediction))
        )
        found = next((one for one in ours if one.name.lower() == name.lower()), None)
        if found is None:
            known = [one.name for one in (*self._own(kind), *ours)]
            raise ConfigurationError(
                f"There is no {kind} {name!r}.", hint=f"{did_you_mean(name, known)} There are {', '.join(known)}."
            )
        shown = found.name if len(self.pairs) == 1 else f"{found.name}_{prediction}"
        made = replace(found, name=shown)
        truth = self.wiring.ground_truths[prediction]
        pair = self.pairs.get(prediction, Pair())
        if found.name == "CategoricalCrossentropyFromLogits" and pair.probabilities:
            self.notes.append(
                f"{shown} takes logits, but {prediction!r} holds probabilities: each row sums to 1. "
                "CategoricalCrossentropy is for these."
            )
        return Bound(kind, made, {"ground_truth": f"ground_truth.{truth}", "prediction": f"prediction.{prediction}"})

    def _class_names(self, prediction: str) -> tuple[str, ...]:
        """Return the names of the classes of a prediction, where somebody declared one for each."""
        names = _class_names(self.dataset, self.wiring, prediction)
        classes = self.pairs.get(prediction, Pair()).classes
        if not classes:
            # Several labels at once are no classes; the model says how many values it gives.
            axis = class_axis(self.dataset, self.description, self.wiring, prediction)
            shape = _output_spec(self.description, self.wiring, prediction).shape
            classes = (shape[axis] or 0) if -len(shape) <= axis < len(shape) else 0
        # A single output is the second of two classes.
        return names if len(names) == classes or (classes == 1 and len(names) == 2) else ()

    def _is_logits(self, prediction: str) -> bool:
        pair = self.pairs.get(prediction, Pair())
        return bool(pair.classes) and not pair.probabilities

    def _own(self, kind: str) -> Sequence[Function]:
        return self.dataset.losses if kind == "loss" else self.dataset.metrics


def make_plan(
    dataset: Dataset,
    description: ModelDescription,
    wiring: Wiring,
    pairs: Mapping[str, Pair],
    *,
    loss: Sequence[FunctionChoice] | None = None,
    metrics: Sequence[FunctionChoice] | None = None,
) -> Plan:
    """Decide what is computed. `pairs` is what the first batch showed, empty where there is no ground truth."""
    notes: list[str] = []
    planning = _Planning(dataset, description, wiring, pairs, notes)
    bound = [*planning.functions("loss", loss), *planning.functions("metric", metrics)]
    return Plan(tuple(bound), _labels(dataset, wiring, pairs), tuple(notes), dict(pairs))


def _labels(dataset: Dataset, wiring: Wiring, pairs: Mapping[str, Pair]) -> tuple[Labels, ...]:
    found: dict[str, Labels] = {}
    for prediction, pair in pairs.items():
        truth = wiring.ground_truths[prediction]
        names = _class_names(dataset, wiring, prediction)
        if pair.classes:
            known = names if len(names) == pair.classes else ()
            for source in (f"prediction.{prediction}", f"ground_truth.{truth}"):
                found[source] = Labels(source, pair.classes, known)
    for kind, fields in (("prediction", dataset.predictions), ("ground_truth", dataset.ground_truths)):
        for one in fields:
            if one.labels:
                found.setdefault(f"{kind}.{one.name}", Labels(f"{kind}.{one.name}", len(one.labels), one.labels))
    return tuple(found.values())


def _class_names(dataset: Dataset, wiring: Wiring, prediction: str) -> tuple[str, ...]:
    """Return what the classes of a prediction are called: by itself, or by its ground truth."""
    truth = wiring.ground_truths[prediction]
    return _declared(dataset.predictions, prediction) or _declared(dataset.ground_truths, truth)


def _declared(fields: Sequence[Field], name: str) -> tuple[str, ...]:
    return next((one.labels for one in fields if one.name == name), ())


def _function(kind: str, given: Any) -> Function:
    """Return somebody's bare function as a loss or metric."""
    if not callable(given):
        raise ConfigurationError(f"A {kind} is a name or a function, but got {given!r}.")
    arguments = tuple(inspect.signature(given).parameters)
    make = Loss if kind == "loss" else Metric
    return make(own_name(given), given, arguments, place=defined_at(given))
