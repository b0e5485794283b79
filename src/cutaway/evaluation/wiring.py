"""How a data set and a model fit together: what goes into which input, what comes out as which prediction, and what
each metric, loss, visualizer and latent space is given. Decides once, before anything runs, and says how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.enums import Role
from cutaway.dataset.functions import Field, Function
from cutaway.errors import BindingError, EncoderError
from cutaway.evaluation.arguments import Sources, wire_arguments
from cutaway.evaluation.channels import Move, fit_sample, matches, spec_as_given
from cutaway.evaluation.pairing import pair, the_only_way
from cutaway.models import ModelDescription, TensorSpec

__all__ = ["NEVER_CALLED", "FirstSample", "InputWire", "SampleShapes", "Wiring", "first_sample", "shapes_of", "wire"]

Shape = tuple[int, ...]
NEVER_CALLED = "the integration test never calls it"
# How far into a subset a sample is looked for whose encoders do not raise.
PATIENCE = 20


@dataclass(frozen=True)
class SampleShapes:
    """The shapes of one encoded sample, without a batch axis, by the names of the encoders."""

    inputs: Mapping[str, Shape]
    ground_truths: Mapping[str, Shape] = field(default_factory=dict)


@dataclass(frozen=True)
class InputWire:
    """What one input of the model is given: an encoder, whose channels go to the `move` side where they lie wrong."""

    encoder: str
    move: Move = ""


@dataclass(frozen=True)
class Wiring:
    """A data set and a model as they fit together.

    `inputs` is by the model's inputs; `predictions` gives each output its name; `ground_truths` gives a prediction the
    ground truth that it is compared with, where there is one. `functions` has `<kind>.<name>` for each argument of
    `metric.<name>`, `loss.<name>`, `visualizer.<name>` and `latent.<name>`; a visualizer that the integration test
    never calls, and whose arguments say nothing, is not among them. `notes` say how each was decided.
    """

    inputs: Mapping[str, InputWire]
    predictions: Mapping[str, str]
    ground_truths: Mapping[str, str]
    functions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `source.json`."""
        inputs = {
            name: {"encoder": wire.encoder, **({"channels": wire.move} if wire.move else {})}
            for name, wire in self.inputs.items()
        }
        return {
            "inputs": inputs,
            "predictions": dict(self.predictions),
            "ground_truths": dict(self.ground_truths),
            "functions": {name: dict(arguments) for name, arguments in self.functions.items()},
            "notes": list(self.notes),
        }


def wire(
    dataset: Dataset, description: ModelDescription, shapes: SampleShapes, *, channels_last: bool | None = None
) -> Wiring:
    """Decide how a data set and a model fit together. Raises `BindingError` that lists both sides where they do not.

    `channels_last` is how the model was told that batches come, None where nobody told it.
    """
    notes: list[str] = []
    specs = [spec_as_given(spec, channels_last=channels_last) for spec in description.inputs]
    inputs = _wire_inputs(dataset, specs, shapes.inputs, notes)
    predictions = _name_outputs(dataset.predictions, description.outputs, notes)
    truths = _pair_truths(dataset, description, predictions, shapes.ground_truths, notes)
    sources = Sources.between(dataset, list(predictions.values()))
    functions = {
        f"{kind}.{function.name}": wire_arguments(word, function, sources)
        for kind, word, bound in _functions_to_wire(dataset)
        for function in bound
    }
    for visualizer in dataset.visualizers:
        try:
            functions[f"visualizer.{visualizer.name}"] = wire_arguments("visualizer", visualizer, sources)
        except BindingError as error:
            if not visualizer.uncalled:
                raise
            notes.append(f"Visualizer {visualizer.name!r} is left out: {NEVER_CALLED}. {error}")
    return Wiring(inputs, predictions, truths, functions, tuple(notes))


@dataclass(frozen=True)
class FirstSample:
    """The first sample that can be encoded: its inputs and ground truths, without a batch axis."""

    inputs: Mapping[str, Array]
    ground_truths: Mapping[str, Array]


def first_sample(dataset: Dataset) -> FirstSample:
    """Encode the first sample that can be. Raises the first `EncoderError` where none can."""
    first: EncoderError | None = None
    found: FirstSample | None = None
    for name, subset in dataset.subsets.items():
        for index in range(min(len(subset), PATIENCE)):
            try:
                inputs = {one.name: np.asarray(subset.encode(Role.INPUT, one.name, index)) for one in dataset.inputs}
                if not dataset.labelled(name):
                    found = found or FirstSample(inputs, {})
                    break
                truths = {
                    one.name: np.asarray(subset.encode(Role.GROUND_TRUTH, one.name, index))
                    for one in dataset.ground_truths
                }
                return FirstSample(inputs, truths)
            except EncoderError as error:
                first = first or error
    if found is not None:
        return found
    raise first or BindingError("The data set has no samples.", hint="Let its preprocess function return at least one.")


def shapes_of(sample: FirstSample) -> SampleShapes:
    """Return the shapes of a sample."""
    return SampleShapes(
        {name: values.shape for name, values in sample.inputs.items()},
        {name: values.shape for name, values in sample.ground_truths.items()},
    )


def _functions_to_wire(dataset: Dataset) -> list[tuple[str, str, Sequence[Function]]]:
    return [
        ("metric", "metric", dataset.metrics),
        ("loss", "loss", dataset.losses),
        ("latent", "latent space", dataset.latent_spaces),
    ]


def _wire_inputs(
    dataset: Dataset, specs: Sequence[TensorSpec], shapes: Mapping[str, Shape], notes: list[str]
) -> dict[str, InputWire]:
    fields, wanted = {one.name: one for one in dataset.inputs}, {spec.name: spec for spec in specs}

    def fits(model_input: str, encoder: str) -> bool:
        try:
            fit_sample(encoder, shapes[encoder], fields[encoder].channel_dim, wanted[model_input])
        except BindingError:
            return False
        return True

    told = _encoders_shown_by_test(dataset, list(wanted))
    left, right = [name for name in wanted if name not in told], [one for one in fields if one not in told.values()]
    pairs, how = pair(left, right, fits)
    pairs, how = {**told, **pairs}, {**dict.fromkeys(told, "as the integration test showed"), **how}
    missing = [name for name in wanted if name not in pairs]
    if missing:
        raise BindingError(_unpaired(missing, specs, shapes))
    wires = {}
    for name, encoder in pairs.items():
        fit = fit_sample(encoder, shapes[encoder], fields[encoder].channel_dim, wanted[name])
        wires[name] = InputWire(encoder, fit.move)
        notes.append(f"Input {name!r} takes encoder {encoder!r}: {how[name]}{'; ' if fit.note else ''}{fit.note}.")
    unused = [encoder for encoder in fields if encoder not in pairs.values()]
    notes += [f"Encoder {encoder!r} goes into no input of the model." for encoder in unused]
    return {name: wires[name] for name in wanted}


def _encoders_shown_by_test(dataset: Dataset, inputs: Sequence[str]) -> dict[str, str]:
    """Return the encoder of each input that the integration test showed, by its name or its position."""
    known = {one.name for one in dataset.inputs}
    told = {}
    for i, name in enumerate(inputs):
        encoder = dataset.model_inputs.get(name, dataset.model_inputs.get(i))
        if encoder in known:
            told[name] = str(encoder)
    return told


def _unpaired(missing: Sequence[str], specs: Sequence[TensorSpec], shapes: Mapping[str, Shape]) -> str:
    inputs = ", ".join(f"{spec.name!r} {_shape_in_words(spec.shape[1:])}" for spec in specs)
    encoders = ", ".join(f"{name!r} {_shape_in_words(shape)}" for name, shape in shapes.items()) or "none"
    return (
        f"Which encoder goes into input {missing[0]!r} of the model is not clear. The model takes {inputs}; "
        f"the data set has the encoders {encoders}. Name each encoder like the input that it is for."
    )


def _name_outputs(declared: Sequence[Field], outputs: Sequence[TensorSpec], notes: list[str]) -> dict[str, str]:
    names = [spec.name for spec in outputs]
    if len(declared) > len(names):
        raise BindingError(
            f"The data set declares {len(declared)} predictions ({', '.join(one.name for one in declared)}), but the "
            f"model has {len(names)} outputs ({', '.join(names)}).",
            hint="Declare one for each output, in its order.",
        )
    predictions = [one.name for one in declared]
    if set(predictions) <= set(names):
        return {name: name for name in names}
    named = {}
    for i, name in enumerate(names):
        named[name] = predictions[i] if i < len(predictions) else name
        if i < len(predictions) and named[name] != name:
            notes.append(f"Output {name!r} is prediction {named[name]!r}: number {i + 1} of both.")
    return named


def _pair_truths(
    dataset: Dataset,
    description: ModelDescription,
    predictions: Mapping[str, str],
    shapes: Mapping[str, Shape],
    notes: list[str],
) -> dict[str, str]:
    truths = [one.name for one in dataset.ground_truths]
    specs = {predictions[spec.name]: spec for spec in description.outputs}

    def fits(prediction: str, truth: str) -> bool:
        return truth in shapes and _comparable(shapes[truth], specs[prediction])

    pairs, how = pair(list(specs), truths, fits)
    left = [name for name in specs if name not in pairs]
    rest = [name for name in truths if name not in pairs.values()]
    if left and len(left) == len(rest) and all(fits(a, b) for a, b in zip(left, rest, strict=True)):
        pairs |= dict(zip(left, rest, strict=True))
        how |= dict.fromkeys(left, "by their order")
    else:
        # Fewer ground truths than outputs: each may still have just one output that it fits.
        found = the_only_way(rest, left, lambda truth, prediction: fits(prediction, truth)) or {}
        pairs |= {prediction: truth for truth, prediction in found.items()}
        how |= dict.fromkeys(found.values(), "the only one of its shape")
    for name in specs:
        if name in pairs:
            notes.append(f"Prediction {name!r} is compared with ground truth {pairs[name]!r}: {how[name]}.")
        elif truths:
            notes.append(f"Prediction {name!r} is compared with no ground truth: none has its name or alone its shape.")
    notes += [
        f"Ground truth {name!r} is compared with no output of the model: name it like the output that it is for."
        for name in truths
        if name not in pairs.values()
    ]
    return {name: pairs[name] for name in specs if name in pairs}


def _comparable(truth: Shape, spec: TensorSpec) -> bool:
    """Whether a ground truth can be what an output should be: its shape, or the numbers of its classes."""
    wanted = spec.shape[1:]
    if not spec.shape or matches(truth, wanted):
        return True
    axis = len(wanted) - 1 if spec.channel_axis in (-1, None) else (spec.channel_axis or 0) - 1
    classes = (*wanted[:axis], *wanted[axis + 1 :])
    return bool(wanted) and (matches(truth, classes) or matches(truth, (*classes, 1)))


def _shape_in_words(shape: Sequence[int | None]) -> str:
    return f"({', '.join('any' if size is None else str(size) for size in shape)})"
