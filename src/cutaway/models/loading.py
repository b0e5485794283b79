"""`load`: a model file, a live object or a function that saves one, as a `Model`. Files go to a limited process."""

from __future__ import annotations

import inspect
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cutaway import registry
from cutaway.engine.limits import Limits
from cutaway.errors import ConfigurationError, ModelError, ModelFormatError, place_of
from cutaway.models.backend import Backend
from cutaway.models.batches import Batch
from cutaway.models.child import ChildBackend
from cutaway.models.model import Model
from cutaway.models.recognising import Recognised, recognise

__all__ = ["load", "needs_example"]

_TRUSTED = "none: the model is trusted and runs in this process."
_LIVE = "none: a live model runs in this process."
_ACCEPTED = (
    "Give the path of a model file or SavedModel folder, a live Keras or torch model, an "
    "`onnxruntime.InferenceSession`, or a function `leap_save_model(target_file_path)`."
)
# What Keras needs to save without being told a format; what the function writes is recognised by its content.
_SAVED_NAME = "model.keras"


def load(
    source: Any,
    *,
    trust: bool = False,
    limits: Limits | None = None,
    entry_file: str | Path | None = None,
    channels_last: bool | None = None,
    example: Batch | None = None,
) -> Model:
    """Return a model from a file, a SavedModel folder, a live object, or a function that saves one.

    A file is recognised by its content and opened in a process of its own, under `limits`; `model.limits` says which
    of them hold on this machine. `trust=True` opens it in this process, without limits and without the checks of its
    format: only for files that you made yourself. `entry_file` is the binding's own file, imported first, for models
    with custom layers. A live object stays in this process, and so does what it does. `channels_last` says how the
    channels of the image batches lie that you will give; see `Model`. `example` is a batch for a live torch module,
    which says nothing of its shapes and outputs until one went through.
    """
    open_file = partial(
        _load_file, limits=limits or Limits(), trust=trust, entry_file=entry_file, channels_last=channels_last
    )
    if isinstance(source, str | os.PathLike):
        return open_file(Path(os.fsdecode(source)).absolute())
    package = _package_of(source)
    if package is not None:
        wrap = registry.load("model_objects", package)
        backend = wrap(source) if example is None or not _takes_example(wrap) else wrap(source, example)
        return Model(backend, channels_last=channels_last, limits=(_LIVE,))
    if isinstance(source, type):
        raise ModelError(f"{source.__name__!r} is a class, not a model.", hint=f"Make a model of it first. {_ACCEPTED}")
    if callable(source):
        return _load_saved(source, open_file)
    kind = type(source)
    raise ModelError(f"A {kind.__module__}.{kind.__qualname__} is no model that can be loaded.", hint=_ACCEPTED)


def needs_example(source: object) -> bool:
    """Whether an object is a live model that shows its shapes and outputs only to an example."""
    package = _package_of(source)
    return package is not None and _takes_example(registry.load("model_objects", package))


def _takes_example(wrap: Callable[..., Backend]) -> bool:
    return "example" in inspect.signature(wrap).parameters


def _load_file(
    path: Path,
    *,
    limits: Limits,
    trust: bool,
    entry_file: str | Path | None,
    channels_last: bool | None,
    folder: Path | None = None,
) -> Model:
    found = _recognised(path, limits)
    entry = None if entry_file is None else _entry(entry_file)
    if trust:
        custom_layers = {} if entry is None else registry.load("entries", "entry_file")(entry)
        backend: Backend = registry.load("model_formats", found.format)(path, trust=True, custom_layers=custom_layers)
        model = Model(backend, channels_last=channels_last, limits=(_TRUSTED,))
    else:
        child = ChildBackend(path, found.format, limits, entry_file=entry, folder=folder)
        model = Model(child, channels_last=channels_last, limits=child.limits)
    if found.note and folder is None:
        model.description = replace(model.description, notes=(*model.description.notes, found.note))
    return model


def _recognised(path: Path, limits: Limits) -> Recognised:
    found = recognise(path, limits)
    if found.format:
        return found
    # Content that we do not know may be a format that somebody else's package reads, named by its suffix.
    name = path.suffix.removeprefix(".").lower()
    if name in registry.names("model_formats") and name not in registry.BUILT_IN["model_formats"]:
        return Recognised(name)
    reason = "its content is none of the formats that are read: `.keras`, `.h5`, `.onnx`, `.pt2`, SavedModel folders."
    raise ModelFormatError(str(path), reason)


def _entry(given: str | Path) -> Path:
    path = Path(given).absolute()
    if not path.is_file():
        raise ConfigurationError(f"There is no entry file at {str(given)!r}.")
    return path


def _package_of(source: object) -> str | None:
    """The package that an object's class comes from, the nearest first: a Keras model on torch is one of Keras."""
    known = registry.names("model_objects")
    packages = (cls.__module__.partition(".")[0] for cls in type(source).__mro__)
    return next((package for package in packages if package in known), None)


def _load_saved(save: Callable[[Path], object], open_file: Callable[..., Model]) -> Model:
    """Let somebody's function save a model, and load what it wrote."""
    folder = Path(tempfile.mkdtemp(prefix="cutaway-saved-"))
    name = getattr(save, "__name__", type(save).__name__)
    try:
        _call(save, folder / _SAVED_NAME, name)
        return open_file(_written(folder, name), folder=folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _call(save: Callable[[Path], object], target: Path, name: str) -> None:
    try:
        save(target)
    # Somebody else's function may raise anything; its own file and line come first.
    except Exception as error:
        place = place_of(error)
        raise ModelError(f"{place}: {name!r} failed to save its model: {type(error).__name__}: {error}") from error


def _written(folder: Path, name: str) -> Path:
    target = folder / _SAVED_NAME
    if target.exists():
        return target
    others = sorted(folder.iterdir())
    if len(others) == 1:
        return others[0]
    listed = ", ".join(path.name for path in others) or "nothing"
    raise ModelError(f"{name!r} was to save one model at the path it was given, but it wrote {listed} there.")
