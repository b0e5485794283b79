"""Opens SavedModel folders: our checks of files and graphs first, then TensorFlow. One signature becomes the model.

A folder has plain files and folders, and nothing that leads out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cutaway.errors import CutawayError, MissingExtraError, ModelError, ModelFormatError, UnsafeModel
from cutaway.frameworks.tensorflow.settings import prepare
from cutaway.models.backend import Backend
from cutaway.models.description import TensorSpec

__all__ = ["open_saved_model"]

_DEFAULT = "serving_default"
IMAGE_RANK = 4
GRAPH = "saved_model.pb"
# Protocol buffers end at 2 GB; graphs without their variables have some MB.
LONGEST_GRAPH = 1024 * 1024 * 1024
MOST_FILES = 10_000
DEEPEST = 16


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
        _check_folder(path)
        check_graphs(parsed_graph(_read_graph(path), str(path)), _variable_bytes(path), str(path))
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


def _check_folder(folder: Path) -> None:
    """Raise `UnsafeModel` where anything in the folder is neither a file nor a folder, or is too much."""
    for count, (entry, depth) in enumerate(_entries(folder)):
        name = os.path.relpath(entry.path, folder)
        if count >= MOST_FILES or depth > DEEPEST:
            raise UnsafeModel(str(folder), f"the folder has more than {MOST_FILES:,} files, or {DEEPEST} levels.")
        kind = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(kind):
            raise UnsafeModel(str(folder), f"{name!r} is a symbolic link, to {str(Path(entry.path).readlink())!r}.")
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise UnsafeModel(str(folder), f"{name!r} is neither a file nor a folder.")
    if not (folder / GRAPH).is_file():
        raise ModelFormatError(str(folder), f"it has no {GRAPH}; `model.export(folder)` writes one.")


def _read_graph(folder: Path) -> bytes:
    """Return the bytes of the graph, which are bounded."""
    with (folder / GRAPH).open("rb") as file:
        content = file.read(LONGEST_GRAPH + 1)
    if len(content) > LONGEST_GRAPH:
        raise UnsafeModel(str(folder), f"its {GRAPH} is longer than {LONGEST_GRAPH:,} bytes.")
    return content


def _variable_bytes(folder: Path) -> int:
    """Return how many bytes the files of the variables have."""
    return sum(file.stat().st_size for file in (folder / "variables").glob("variables.data-*"))


def _entries(folder: Path, depth: int = 0) -> Iterator[tuple[os.DirEntry[str], int]]:
    with os.scandir(folder) as listed:
        for entry in listed:
            yield entry, depth
            if depth <= DEEPEST and entry.is_dir(follow_symlinks=False):
                yield from _entries(Path(entry.path), depth + 1)
