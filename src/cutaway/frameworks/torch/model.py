"""A live torch module as a `Backend`, in process. The module is the user's and is left as it was after every call.

A module declares neither shapes nor outputs. With an `example` batch one forward finds them out. Without one the
inputs are the parameters of `forward`, with nothing said of their shapes, and one output called `output` is expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from cutaway.arrays import Array
from cutaway.errors import LayerUnavailable, ModelError
from cutaway.frameworks.torch import answers
from cutaway.frameworks.torch.arguments import call, named_example, required_inputs, tensors_of
from cutaway.frameworks.torch.calls import INPUT, ModuleCall, as_in_prediction, calls, head_of, watching
from cutaway.frameworks.torch.names import module_names, unwrap
from cutaway.frameworks.torch.random_weights import randomised_copy
from cutaway.frameworks.torch.scores import differentiable_copy, gradient_of_score, summed_score
from cutaway.models.backend import Arrays, Backend, Gradient, Question
from cutaway.models.batches import Batch
from cutaway.models.description import Layer, ModelDescription, TensorSpec

__all__ = ["LiveModule", "wrap"]

_CONTAINERS = (torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.ParameterList, torch.nn.ParameterDict)


def wrap(module: torch.nn.Module, example: Batch | None = None) -> Backend:
    """Return a backend for a live module; `example` is a batch by which its shapes and outputs become known."""
    root = unwrap(module)
    if example is None:
        return LiveModule(root, _undeclared(root))
    return LiveModule(root, _probed(root, named_example(root, example)))


class LiveModule:
    """A user's module: predicts without gradients, shows layers through hooks that hang for one forward only."""

    def __init__(self, root: torch.nn.Module, description: ModelDescription) -> None:
        self._root = root
        self.description = description
        self._named = _inner_modules(root)

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output."""
        # Not `inference_mode`: what a module keeps for itself in a forward could then never be trained with again.
        with torch.no_grad(), as_in_prediction(self._root):
            outputs = self._outputs(tensors_of(self._root, batch))
        return {name: answers.as_array(tensor) for name, tensor in outputs.items()}

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        """Return the first tensor that each layer returns."""
        return self._watched(batch, layers)[1]

    def predict_with(self, batch: Arrays, layers: Sequence[str]) -> tuple[Arrays, Arrays]:
        """Return every output and the values of some layers, from one forward."""
        returned, found = self._watched(batch, layers)
        return {name: answers.as_array(tensor) for name, tensor in self._declared(returned).items()}, found

    def _watched(self, batch: Arrays, layers: Sequence[str]) -> tuple[Any, dict[str, Array]]:
        """Return what the module returns, and what some layers returned meanwhile."""
        found: dict[str, Array] = {}

        def look(name: str, tensor: torch.Tensor) -> None:
            found[name] = answers.as_array(tensor)

        with torch.no_grad(), as_in_prediction(self._root), watching(self._named, self._wanted(layers), look):
            returned = call(self._root, tensors_of(self._root, batch))
        for name in layers:
            if name not in found:
                raise LayerUnavailable(name, reason="The module has it, but this batch did not go through it.")
        return returned, {name: found[name] for name in layers}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        """Differentiate with `torch.autograd.grad`, which accumulates nothing in the user's parameters."""
        return self.gradient_with_output(batch, question)[0]

    def gradient_with_output(self, batch: Arrays, question: Question) -> tuple[Gradient, Array]:
        """Return the gradient and the output that it was taken of, from one forward."""
        spec = next(spec for spec in self.description.outputs if spec.name == question.output)
        with torch.enable_grad(), as_in_prediction(self._root):
            tensors = tensors_of(self._root, batch)
            if question.wrt in tensors:
                source = differentiable_copy(tensors[question.wrt], question.wrt)
                # A copy goes in, so that a module may change its input in place.
                outputs = self._outputs({**tensors, question.wrt: source.clone()})
            else:
                source, outputs = self._from_layer(tensors, question.wrt)
            score = summed_score(outputs[question.output], question, spec.channel_axis)
            gradient = gradient_of_score(score, source, question)
        return gradient, answers.as_array(outputs[question.output])

    def with_random_weights(self, seed: int) -> Backend:
        """Return a backend over a copy of the module whose parameters are shuffled; the user's stays as it is."""
        return LiveModule(randomised_copy(self._root, seed), self.description)

    def close(self) -> None:
        """The module is the user's: nothing to let go of."""

    def _from_layer(self, tensors: dict[str, torch.Tensor], layer: str) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Run on with the layer's value as a leaf: whatever lies before it then needs no gradient.

        What goes into the head may go into other heads too, so there the value itself is followed where it can be.
        """
        leaves: list[torch.Tensor] = []
        if layer.endswith(INPUT):
            tensors = {name: t.requires_grad_(t.is_floating_point()) for name, t in tensors.items()}

        def look(name: str, tensor: torch.Tensor) -> torch.Tensor | None:
            if name.endswith(INPUT) and tensor.requires_grad:
                leaves.append(tensor)
                return None
            leaves.append(differentiable_copy(tensor, layer))
            return leaves[0].clone()

        with watching(self._named, self._wanted([layer]), look):
            outputs = self._outputs(tensors)
        if not leaves:
            raise LayerUnavailable(layer, reason="The module has it, but this batch did not go through it.")
        return leaves[0], outputs

    def _wanted(self, layers: Sequence[str]) -> dict[str, str]:
        known = [layer.name for layer in self.description.layers]
        for layer in layers:
            if layer not in known:
                raise LayerUnavailable(layer, known)
        return {layer: layer.removesuffix(INPUT).partition(":")[0] for layer in layers}

    def _outputs(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return self._declared(call(self._root, tensors))

    def _declared(self, result: Any) -> dict[str, torch.Tensor]:
        returned = answers.named_tensors(result)
        declared = [spec.name for spec in self.description.outputs]
        if not set(declared) <= set(returned):
            raise ModelError(
                f"{type(self._root).__name__} returned {', '.join(returned) or 'no tensor'}, but {', '.join(declared)} "
                "was expected.",
                hint=(
                    "Load it with an example batch, so that its outputs are known: `cutaway.models.load(module, "
                    "example=batch)`."
                ),
            )
        return {name: returned[name] for name in declared}


def _undeclared(root: torch.nn.Module) -> ModelDescription:
    inputs = tuple(TensorSpec(name, (), "", 1) for name in required_inputs(root))
    layers = [answers.listed(name, type(module).__name__) for name, module in _inner_modules(root).items()]
    linear = [name for name, module in _inner_modules(root).items() if isinstance(module, torch.nn.Linear)]
    if linear:
        layers.append(Layer(f"{linear[-1]}{INPUT}", "Input of Linear"))
    return ModelDescription(
        "torch",
        inputs,
        (TensorSpec("output", (), "", 1),),
        tuple(layers),
        f"{linear[-1]}{INPUT}" if linear else None,
        notes=("No example batch was given: shapes are unknown, and layers are listed that may never be called.",),
        about=_about_module(root),
    )


def _probed(root: torch.nn.Module, arrays: dict[str, Array]) -> ModelDescription:
    rows = len(next(iter(arrays.values())))
    with torch.no_grad(), as_in_prediction(root), calls(_inner_modules(root)) as order:
        tensors = tensors_of(root, arrays)
        outputs = answers.named_tensors(call(root, tensors))
    kept = {name: tensor for name, tensor in outputs.items() if tensor.shape[:1] == (rows,)}
    if not kept:
        raise ModelError(f"{type(root).__name__} returned no tensor with a row for each of the {rows} samples.")
    by_rows = [call for call in order if call.shape[:1] == (rows,)]
    kinds = [type(call.module).__name__ for call in by_rows]
    axes = answers.channel_axes([(kind, call.shape) for kind, call in zip(kinds, by_rows, strict=True)])
    layers = [
        answers.listed(call.name, kind, call.shape, axis) for call, kind, axis in zip(by_rows, kinds, axes, strict=True)
    ]
    latent, head = None, head_of(order)
    if head is not None and head.input_shape[:1] == (rows,) and ":" not in head.name:
        kind, latent = type(head.module).__name__, f"{head.name}{INPUT}"
        layers.append(Layer(latent, f"Input of {kind}", None, 1 if kind.startswith("Conv") else -1))
    return ModelDescription(
        "torch",
        tuple(answers.described(name, tensor) for name, tensor in tensors.items()),
        tuple(_described_output(name, tensor, head) for name, tensor in kept.items()),
        tuple(layers),
        latent,
        notes=_left_out("output", set(outputs) - set(kept))
        + _left_out("layer", {call.name for call in order} - {call.name for call in by_rows}),
        about=_about_module(root),
    )


def _described_output(name: str, tensor: torch.Tensor, head: ModuleCall | None) -> TensorSpec:
    """Describe an output; its classes lie last where the head is linear and made a tensor of just this shape."""
    features_last = head is not None and isinstance(head.module, torch.nn.Linear) and head.shape == tensor.shape
    return answers.described(name, tensor, channels_first=not features_last)


def _left_out(what: str, names: set[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (f"Not listed, as it does not have a row for each sample: {what} {', '.join(sorted(names))}.",)


def _about_module(root: torch.nn.Module) -> dict[str, Any]:
    count = sum(p.numel() for p in root.parameters() if not isinstance(p, torch.nn.UninitializedParameter))
    return {"class": type(root).__name__, "parameters": count}


def _inner_modules(root: torch.nn.Module) -> dict[str, torch.nn.Module]:
    """Return the modules that can be called, by name; a module that is nothing but one layer goes by its class."""
    inner = {
        name: module
        for name, module in module_names(root)
        if module is not root and not isinstance(module, _CONTAINERS)
    }
    return inner or {type(root).__name__: root}
