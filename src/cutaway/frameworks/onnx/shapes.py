"""The shapes of a graph's tensors before any batch went through, and which of them have the samples first.

Inference over the graph tells most of it. For the rest two small batches of zeros go through ONNX Runtime: the axis
that grew with the batch is the axis of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import onnx

from cutaway.arrays import Array
from cutaway.errors import ModelError
from cutaway.frameworks.onnx.tensors import NUMBERS

__all__ = ["Shapes"]

Known = tuple[int | str | None, ...]
Run = Callable[[list[str], dict[str, Array]], dict[str, Array]]
_ROWS = "cutaway_rows"


class Shapes:
    """Shapes by tensor: numbers, names of sizes that vary, None for what is unknown."""

    def __init__(self, model: onnx.ModelProto, inputs: Iterable[str]) -> None:
        names = set(inputs)
        skeleton = onnx.ModelProto()
        skeleton.CopyFrom(model)
        self._inputs = [value for value in skeleton.graph.input if value.name in names]
        self._rows = {_named_rows(value) for value in self._inputs}
        self._known = {value.name: shape_of(value) for value in _inferred(skeleton)}
        self._probed: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    @property
    def fixed_rows(self) -> int | None:
        """The only batch size, or None where any is taken."""
        return next((size for size in self._rows if isinstance(size, int)), None)

    def of(self, name: str) -> tuple[int | None, ...] | None:
        """Return a shape as people see it, None where a size varies; None altogether where the rank is unknown."""
        if name in self._probed:
            first, second = self._probed[name]
            sizes = tuple(a if a == b else None for a, b in zip(first, second, strict=True))
            # What only looks fixed because the probes were equally large is not promised.
            return sizes if self._all_fixed() else tuple(None for _ in sizes)
        shape = self._known.get(name)
        return None if shape is None else tuple(size if isinstance(size, int) else None for size in shape)

    def has_rows_first(self, name: str) -> bool | None:
        """Whether the first axis is that of samples; None where it is not known."""
        if name in self._probed:
            first, second = self._probed[name]
            return bool(first) and (first[0], second[0]) == (2, 3)
        shape = self._known.get(name)
        if shape is None or (shape and not isinstance(shape[0], int) and shape[0] not in self._rows):
            return None
        return bool(shape) and shape[0] in self._rows

    def probe(self, names: list[str], run: Run) -> str:
        """Learn shapes from two small batches. Returns why not, where the model takes neither."""
        if self.fixed_rows is not None or not names:
            return ""
        reason = ""
        for size in (32, 8, 224):
            try:
                answers = [run(names, self._zeros(rows, size)) for rows in (2, 3)]
            except ModelError as error:
                reason = str(error)
                continue
            for name in names:
                shapes = [np.asarray(answer[name]).shape for answer in answers]
                if len(shapes[0]) == len(shapes[1]):
                    self._probed[name] = (shapes[0], shapes[1])
            return ""
        return reason

    def _all_fixed(self) -> bool:
        return all(isinstance(size, int) for value in self._inputs for size in (shape_of(value) or (None,))[1:])

    def _zeros(self, rows: int, size: int) -> dict[str, Array]:
        zeros = {}
        for value in self._inputs:
            shape = [one if isinstance(one, int) else size for one in shape_of(value) or (None,)]
            dtype = NUMBERS.get(value.type.tensor_type.elem_type, "float32")
            zeros[value.name] = np.zeros([rows, *shape[1:]], dtype)
        return zeros


def shape_of(value: onnx.ValueInfoProto) -> Known | None:
    """Return the declared shape of a value, or None where its rank is not declared."""
    tensor = value.type.tensor_type
    if value.type.WhichOneof("value") != "tensor_type" or not tensor.HasField("shape"):
        return None
    # Some exporters write 0 or -1 for "any".
    return tuple(dim.dim_value if dim.dim_value > 0 else (dim.dim_param or None) for dim in tensor.shape.dim)


def _named_rows(value: onnx.ValueInfoProto) -> int | str | None:
    """The size of the batch axis; one without a name gets ours, so that inference can follow it."""
    dims = value.type.tensor_type.shape.dim
    if not dims:
        return _ROWS
    if dims[0].HasField("dim_value"):
        if dims[0].dim_value > 0:
            return int(dims[0].dim_value)
        dims[0].ClearField("dim_value")
    dims[0].dim_param = dims[0].dim_param or _ROWS
    return str(dims[0].dim_param)


def _inferred(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    try:
        graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    except (onnx.shape_inference.InferenceError, ValueError, RuntimeError):
        # Then only what the file itself says is known, and the probe has to tell the rest.
        graph = model.graph
    return [*graph.input, *graph.value_info, *graph.output]
