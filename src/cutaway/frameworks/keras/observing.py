"""Finds out what a model with a `call` of its own consists of, by one forward pass of zeros with taps on its layers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import keras

from cutaway.errors import ModelError
from cutaway.frameworks.keras.anatomy import IMAGE_RANK, KerasAnatomy, LayerCall, class_axis, head_input, unique
from cutaway.frameworks.keras.taps import first_tensor, tapped
from cutaway.models.description import TensorSpec

__all__ = ["anatomy_by_observing"]

# How long an axis of any size is in the pass; nothing of it is kept.
ANY = 8
# A layer can be used in a loop; what comes later than this is not shown.
MOST_CALLS = 64


def anatomy_by_observing(model: Any) -> KerasAnatomy:
    """Return the anatomy of a subclassed model that has been built. Raises `ModelError` where it has not."""
    structure = _input_shapes(model)
    names = _input_names(structure, model)
    shapes = [tuple(shape) for shape in _leaves(structure)]
    inputs = tuple(
        TensorSpec(name, (None, *shape[1:]), "float32", -1 if len(shape) >= IMAGE_RANK else None)
        for name, shape in zip(names, shapes, strict=True)
    )
    fixed = all(None not in spec.shape[1:] for spec in inputs)
    zeros = [keras.ops.zeros([1, *(size or ANY for size in spec.shape[1:])], spec.dtype) for spec in inputs]
    skeleton = _skeleton(structure)
    candidates = list(_candidates(model, ""))
    seen: list[LayerCall] = []

    def keep(call: LayerCall, value: Any) -> Any:
        shape = tuple(value.shape)
        if len(shape) > 0 and shape[0] == 1:
            seen.append(LayerCall(call.name, call.operation, call.index, (None, *shape[1:]) if fixed else None))
        return value

    every = [LayerCall(name, layer, i) for name, layer in candidates for i in range(MOST_CALLS)]
    with tapped(every, keep):
        result = model(keras.tree.pack_sequence_as(skeleton, zeros), training=False)
    names_of_calls = unique([call.name for call in seen])
    calls = tuple(replace(call, name=name) for name, call in zip(names_of_calls, seen, strict=True))
    outputs = _outputs(result, fixed=fixed)
    return KerasAnatomy(inputs, outputs, calls, skeleton, head_input(calls), traceable=False)


def _input_shapes(model: Any) -> Any:
    shapes = model.get_build_config() if model.built else None
    given = list((shapes or {}).get("shapes_dict", shapes or {}).values())
    if not given or given[0] is None:
        raise ModelError(
            f"The shapes that {type(model).__name__} takes are not known before its first batch.",
            hint="Call it once: `model(batch)`, or build it: `model.build(shape)`.",
        )
    return given[0] if len(given) == 1 else list(given)


def _is_shape(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(size is None or isinstance(size, int) for size in value)


def _leaves(structure: Any) -> list[Any]:
    if _is_shape(structure):
        return [structure]
    parts = structure.values() if isinstance(structure, Mapping) else structure
    return [leaf for part in parts for leaf in _leaves(part)]


def _skeleton(structure: Any) -> Any:
    """The structure with a number in the place of each shape."""
    if _is_shape(structure):
        return 0
    if isinstance(structure, Mapping):
        return {key: _skeleton(part) for key, part in structure.items()}
    return [_skeleton(part) for part in structure]


def _input_names(structure: Any, model: Any) -> list[str]:
    if isinstance(structure, Mapping):
        return sorted(structure)
    argument = next(iter(inspect.signature(model.call).parameters), "input")
    leaves = _leaves(structure)
    return [argument] if len(leaves) == 1 else [f"{argument}_{i}" for i in range(len(leaves))]


def _candidates(model: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """The layers that a model holds, and those of models within it; what a layer holds itself is its own business."""
    for layer in model.layers:
        yield f"{prefix}{layer.name}", layer
        if isinstance(layer, keras.Model):
            yield from _candidates(layer, f"{prefix}{layer.name}/")


def _outputs(result: Any, *, fixed: bool) -> tuple[TensorSpec, ...]:
    tensors = [first_tensor(part) for part in keras.tree.flatten(result)]
    if isinstance(result, Mapping):
        names = [str(name) for name in keras.tree.flatten({key: key for key in result})]
    else:
        names = ["output"] if len(tensors) == 1 else [f"output_{i}" for i in range(len(tensors))]
    specs = []
    for name, tensor in zip(names, tensors, strict=True):
        shape = tuple(tensor.shape)
        sizes = shape[1:] if fixed else (None,) * (len(shape) - 1)
        dtype = keras.backend.standardize_dtype(tensor.dtype)
        kept = "float32" if dtype == "bfloat16" else dtype
        specs.append(TensorSpec(name, (None, *sizes), kept, class_axis(len(shape), first=False)))
    return tuple(specs)
