"""What a Keras model consists of: its inputs and outputs by name, and the calls of layers in a forward pass.

Functional and Sequential models say so themselves. Models with a `call` of their own are asked by one forward pass;
`observing` does that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import keras
from keras import layers as kinds

from cutaway.errors import ModelError
from cutaway.models.description import Layer, TensorSpec

__all__ = ["KerasAnatomy", "LayerCall", "anatomy_of_graph", "channel_axis_of", "graph_of", "head_input", "unique"]

Shape = tuple[int | None, ...]
# Images have rows, columns and channels beside the samples.
IMAGE_RANK = 4
# What does not change which features there are: the head of a model lies before these.
_PASSES = (kinds.Activation, kinds.Softmax, kinds.Dropout, kinds.ReLU, kinds.Identity, kinds.ActivityRegularization)
_HEADS = (kinds.Dense, kinds.EinsumDense, kinds.Conv1D, kinds.Conv2D, kinds.Conv3D, kinds.TimeDistributed)


@dataclass(frozen=True)
class LayerCall:
    """One call of one layer in a forward pass: `index` is which of its calls, for layers that are used again."""

    name: str
    operation: Any
    index: int
    shape: Shape | None = None

    @property
    def layer(self) -> Layer:
        """The call as the description of a model lists it."""
        axis = channel_axis_of(self.operation, 0 if self.shape is None else len(self.shape))
        return Layer(self.name, type(self.operation).__name__, self.shape, axis)


@dataclass(frozen=True)
class KerasAnatomy:
    """A model as its engine needs it; `structure` is how its inputs are put together for a call."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    calls: tuple[LayerCall, ...]
    structure: Any
    latent: str | None
    traceable: bool
    notes: tuple[str, ...] = ()


def graph_of(model: Any) -> Any:
    """Return the functional graph that a model runs, or None where it runs code of its own."""
    if isinstance(model, keras.Sequential):
        model = getattr(model, "_functional", None)
    functional = getattr(model, "output_names", None) is not None and hasattr(model, "operations")
    if not functional:
        return None
    # A subclass that brings its own `call` runs that, not the graph.
    own = next((base for base in type(model).__mro__ if "call" in vars(base)), None)
    return model if own is not None and own.__module__.startswith("keras.") else None


def anatomy_of_graph(graph: Any) -> KerasAnatomy:
    """Return the anatomy of a functional graph."""
    calls = list(_calls(graph, "", Counter()))
    first = any(getattr(call.operation, "data_format", None) == "channels_first" for call in calls)
    inputs = tuple(_input(tensor, graph, first=first) for tensor in graph.inputs)
    names = unique(_output_names(graph))
    outputs = tuple(
        TensorSpec(name, tuple(tensor.shape), _numpy_dtype(tensor.dtype), class_axis(len(tensor.shape), first=first))
        for name, tensor in zip(names, graph.outputs, strict=True)
    )
    batch = inputs[0].shape[0]
    shown = tuple(call for call in calls if call.shape and call.shape[0] in (None, batch))
    structure = getattr(graph, "_inputs_struct", graph.inputs)
    return KerasAnatomy(inputs, outputs, shown, structure, _latent_of_graph(graph, shown), traceable=True)


def class_axis(rank: int, *, first: bool) -> int | None:
    """Return where the classes of an output of that rank are, with channels first or last."""
    if rank < 2:
        return None
    return 1 if first and rank >= IMAGE_RANK else -1


def channel_axis_of(operation: Any, rank: int) -> int:
    """Return where the channels of a layer's output are."""
    first = getattr(operation, "data_format", None) == "channels_first"
    return 1 if first and rank >= 3 else -1


def unique(names: Sequence[str]) -> list[str]:
    """Return the names, numbered from the second of the same on.

    >>> unique(["a", "b", "a"])
    ['a', 'b', 'a@2']
    """
    count: Counter[str] = Counter()
    numbered = []
    for name in names:
        count[name] += 1
        numbered.append(name if count[name] == 1 else f"{name}@{count[name]}")
    return numbered


def head_input(calls: Sequence[LayerCall]) -> str | None:
    """Return the call whose value goes into the last layer that computes something, in a plain chain of calls."""
    at = len(calls) - 1
    while at > 0 and isinstance(calls[at].operation, _PASSES):
        at -= 1
    if at > 0 and isinstance(calls[at].operation, _HEADS):
        at -= 1
    while at > 0 and isinstance(calls[at].operation, kinds.Dropout):
        at -= 1
    return calls[at].name if calls else None


def _calls(graph: Any, prefix: str, count: Counter[int]) -> Iterator[LayerCall]:
    """The calls of a graph in the order in which they happen, those of models within it before their own."""
    named: Counter[str] = Counter()
    for depth in sorted(graph._nodes_by_depth, reverse=True):
        for node in graph._nodes_by_depth[depth]:
            operation = node.operation
            if node.is_input or operation is None:
                continue
            named[operation.name] += 1
            number = named[operation.name]
            name = f"{prefix}{operation.name}" + (f"@{number}" if number > 1 else "")
            inner = graph_of(operation) if isinstance(operation, keras.Model) else None
            if inner is not None:
                yield from _calls(inner, f"{name}/", count)
            shape = tuple(node.output_tensors[0].shape) if node.output_tensors else None
            # Masks are made by operations whose names change with every loading.
            if shape is not None and not _is_mask(node) and node.output_tensors[0].dtype != "string":
                yield LayerCall(name, operation, count[id(operation)], shape)
            count[id(operation)] += 1


def _input(tensor: Any, graph: Any, *, first: bool) -> TensorSpec:
    if tensor.dtype == "string":
        raise ModelError(
            f"Input {tensor.name!r} of the model takes text, and batches are numbers.",
            hint="Save the part of the model behind its text layers, and turn texts into numbers in an input encoder.",
        )
    shape = tuple(tensor.shape)
    axis = (1 if first else -1) if len(shape) >= IMAGE_RANK else None
    return TensorSpec(tensor.name, shape, _input_dtype(tensor, graph), axis)


def _input_dtype(tensor: Any, graph: Any) -> str:
    """Keras declares float32 where nobody said otherwise, also for the numbers of words."""
    users = [
        node.operation
        for nodes in graph._nodes_by_depth.values()
        for node in nodes
        if not node.is_input and any(one is tensor for one in node.input_tensors) and not _is_mask(node)
    ]
    if tensor.dtype == "float32" and users and all(isinstance(user, kinds.Embedding) for user in users):
        return "int32"
    return _numpy_dtype(tensor.dtype)


def _is_mask(node: Any) -> bool:
    return bool(node.output_tensors and node.output_tensors[0].dtype == "bool")


def _numpy_dtype(dtype: str) -> str:
    # numpy has no bfloat16; it comes back as float32.
    return "float32" if dtype == "bfloat16" else str(dtype)


def _output_names(graph: Any) -> list[str]:
    structure = getattr(graph, "_outputs_struct", None)
    if isinstance(structure, dict):
        return [str(name) for name in keras.tree.flatten({key: key for key in structure})]
    return [str(name) for name in graph.output_names]


def _latent_of_graph(graph: Any, calls: Sequence[LayerCall]) -> str | None:
    """The call that makes the input of the head, found from the first output backwards."""
    shown = {(id(call.operation), call.index): call.name for call in calls}
    tensor = _before(graph.outputs[0], graph, _PASSES)
    operation = tensor._keras_history.operation
    inner = graph_of(operation) if isinstance(operation, keras.Model) else None
    if inner is not None:
        # The head is inside of a model within this one.
        prefix = f"{operation.name}/"
        return _latent_of_graph(inner, [call for call in calls if call.name.startswith(prefix)])
    if isinstance(operation, _HEADS):
        tensor = _before(_one_input(tensor), graph, (kinds.Dropout,))
    history = tensor._keras_history
    # Nodes of models within others are numbered otherwise.
    last = next((call.name for call in reversed(calls) if call.operation is history.operation), None)
    return shown.get((id(history.operation), history.node_index)) or last


def _before(tensor: Any, graph: Any, passes: tuple[type, ...]) -> Any:
    """The tensor, or the one before it where a layer only passes it on."""
    while isinstance(tensor._keras_history.operation, passes) and all(tensor is not one for one in graph.inputs):
        tensor = _one_input(tensor)
    return tensor


def _one_input(tensor: Any) -> Any:
    history = tensor._keras_history
    return history.operation._inbound_nodes[history.node_index].input_tensors[0]
