"""Opens SavedModel folders: our checks of files and graphs first, then TensorFlow. One signature becomes the model."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cutaway.errors import CutawayError, MissingExtraError, ModelError, ModelFormatError
from cutaway.frameworks.tensorflow.folder_check import check_folder, read_graph, variable_bytes
from cutaway.frameworks.tensorflow.settings import prepare
from cutaway.models.backend import Backend
from cutaway.models.description import TensorSpec

__all__ = ["open_saved_model"]

_DEFAULT = "serving_default"
IMAGE_RANK = 4


def open_saved_model(path: Path, *, trust: bool, custom_layers: Mapping[str, type]) -> Backend:
    """Return the model of a SavedModel folder. Raises `UnsafeModel` for one that would do more than compute.

    `custom_layers` are not used: a SavedModel brings its layers as graphs.
    """
    del custom_layers
    if find_spec("tensorflow") is None:
        raise MissingExtraError("Loading a SavedModel folder", "tensorflow")
    prepare()
    import tensorflow as tf

    from cutaway.frameworks.tensorflow.graph_check import check_graphs, parsed_graph
    from cutaway.frameworks.tensorflow.signature_backend import backend_of

    if not trust:
        check_folder(path)
        check_graphs(parsed_graph(read_graph(path), str(path)), variable_bytes(path), str(path))
    try:
        loaded = tf.saved_model.load(str(path))
    except (CutawayError, MemoryError):
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelFormatError(str(path), f"TensorFlow cannot read it: {lines[0][:500]}") from error
    name, function = _signature(loaded, str(path))
    return backend_of(function, _inputs(function), about={"tensorflow": tf.__version__, "signature": name})


def _signature(loaded: Any, path: str) -> tuple[str, Any]:
    signatures = dict(loaded.signatures)
    if _DEFAULT in signatures:
        return _DEFAULT, signatures[_DEFAULT]
    if len(signatures) == 1:
        return next(iter(signatures.items()))
    listed = ", ".join(sorted(signatures)) or "none"
    raise ModelFormatError(
        path,
        f"it has no signature {_DEFAULT!r} and not just one other (it has {listed}).",
        hint=f"Save it with `tf.saved_model.save(model, folder, signatures={{'{_DEFAULT}': function}})`.",
    )


def _inputs(function: Any) -> list[TensorSpec]:
    named = [_input(name, spec) for name, spec in function.structured_input_signature[1].items()]
    # In the order in which the function takes them; those that it looks nothing up of have their names.
    order = [tensor.op.name for tensor in function.inputs]
    return sorted(named, key=lambda spec: order.index(spec.name) if spec.name in order else len(order))


def _input(name: str, spec: Any) -> TensorSpec:
    if spec.shape.rank is None:
        raise ModelError(f"Input {name!r} of the SavedModel says nothing of its shape, so batches cannot be fitted.")
    if spec.dtype.name == "string":
        raise ModelError(
            f"Input {name!r} of the SavedModel takes text, and batches are numbers.",
            hint="Export the part of the model behind its text layers.",
        )
    shape = tuple(spec.shape.as_list())
    # Graphs of TensorFlow have channels last, unless they are written for a GPU.
    return TensorSpec(name, shape, spec.dtype.name, -1 if len(shape) >= IMAGE_RANK else None)
