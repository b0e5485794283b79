"""Opens `.keras` and `.h5` files: our checks first, then Keras in its safe mode. Nothing is compiled.

Runs in the process that the model then lives in. `trust=True` leaves the checks out and lets the file's code run.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from cutaway.errors import CutawayError, ModelFormatError, UnsafeModel
from cutaway.frameworks.keras.archive_check import LONGEST_CONFIG, WEIGHTS, checked_archive, read_config, read_weights
from cutaway.frameworks.keras.config_check import check_config, parsed
from cutaway.frameworks.keras.importing import import_keras
from cutaway.frameworks.keras.keras2 import HARD_SIGMOID, is_of_keras_2, translated
from cutaway.frameworks.keras.training import training_of
from cutaway.models.backend import Backend

__all__ = ["hard_sigmoid_of_keras_2", "open_h5", "open_keras"]

_CAUSE = "Exception encountered:"
# What layers keep that a file need not hold: states of random numbers, counters.
_SLACK = 100_000


def open_keras(path: Path, *, trust: bool, custom_layers: Mapping[str, type]) -> Backend:
    """Return the model of a `.keras` archive. Raises `UnsafeModel` for one that would do more than compute."""
    keras = import_keras("Loading a .keras file")
    from keras.src.saving import saving_lib

    from cutaway.frameworks.keras.model import backend_of

    # One open file for the checks and for Keras, so that nothing can take its place in between.
    with path.open("rb") as file, _said_of(path):
        archive = checked_archive(file, str(path))
        config = parsed(read_config(archive, str(path)), str(path))
        custom: Mapping[str, Any] = custom_layers
        if not trust:
            custom = check_config(config, keras, custom_layers, str(path))
            stored = _stored_elements(read_weights(archive, str(path)), archive.getinfo(WEIGHTS).file_size, str(path))
            _check_weights(keras, _maker(keras, config, custom), stored, str(path))
        file.seek(0)
        model = saving_lib.load_model(file, custom_objects=dict(custom), compile=False, safe_mode=not trust)
    return backend_of(model, "keras", training_of(config.get("compile_config")))


def open_h5(path: Path, *, trust: bool, custom_layers: Mapping[str, type]) -> Backend:
    """Return the model of an `.h5` file, of Keras 2 or 3. Raises `UnsafeModel` as `open_keras` does."""
    keras = import_keras("Loading an .h5 file")
    import h5py
    from keras.src.legacy.saving.legacy_h5_format import load_weights_from_hdf5_group

    from cutaway.frameworks.keras.h5_check import checked_elements, text_attribute
    from cutaway.frameworks.keras.model import backend_of

    with path.open("rb") as opened, _said_of(path), h5py.File(opened, "r") as file:
        stored = checked_elements(file, path.stat().st_size, str(path))
        text = text_attribute(file, "model_config", LONGEST_CONFIG, str(path))
        if text is None or "model_weights" not in file:
            raise ModelFormatError(str(path), _no_model(file))
        config = parsed(text, str(path))
        older = is_of_keras_2(text_attribute(file, "keras_version", LONGEST_CONFIG, str(path)))
        if older:
            config = translated(config, str(path))
        custom: Mapping[str, Any] = {**custom_layers, **({HARD_SIGMOID: hard_sigmoid_of_keras_2} if older else {})}
        if not trust:
            custom = check_config(config, keras, custom, str(path))
            _check_weights(keras, _legacy_maker(keras, config, custom, safe=True), stored, str(path))
        model = _legacy_maker(keras, config, custom, safe=not trust)()
        load_weights_from_hdf5_group(file["model_weights"], model)
        compiled = text_attribute(file, "training_config", LONGEST_CONFIG, str(path))
    return backend_of(model, "h5", training_of(_parsed_or_none(compiled)))


def _parsed_or_none(text: str | None) -> Any:
    """What the model was compiled with; a text that cannot be read costs nothing but that."""
    try:
        return None if text is None else parsed(f'{{"config": {text}}}', "")["config"]
    except CutawayError:
        return None


def _maker(keras: Any, config: Mapping[str, Any], custom: Mapping[str, Any]) -> Callable[[], Any]:
    def make() -> Any:
        # Keras takes the configuration apart while it reads it.
        plain = copy.deepcopy({**config, "compile_config": None})
        return keras.saving.deserialize_keras_object(plain, custom_objects=dict(custom), safe_mode=True)

    return make


def _legacy_maker(keras: Any, config: Mapping[str, Any], custom: Mapping[str, Any], *, safe: bool) -> Callable[[], Any]:
    from keras.src.saving.serialization_lib import SafeModeScope

    name = str(config["class_name"])
    known = {"Sequential": keras.Sequential, "Functional": keras.Model, "Model": keras.Model}
    kind = custom.get(name) or custom.get(name.rpartition(">")[2]) or known[name]

    def make() -> Any:
        # Keras's own scopes replace each other; what is handed on by argument reaches every layer.
        given = {"custom_objects": dict(custom)} if kind in known.values() else {}
        with keras.saving.custom_object_scope(dict(custom)), SafeModeScope(safe):
            return kind.from_config(copy.deepcopy(config["config"]), **given)

    return make


def hard_sigmoid_of_keras_2(x: Any) -> Any:
    """Return `0.2 x + 0.5` between 0 and 1; Keras 3 takes `x / 6 + 0.5`. Old recurrent layers have it by default."""
    import keras

    return keras.ops.clip(0.2 * x + 0.5, 0.0, 1.0)


def _stored_elements(weights: BinaryIO, size: int, path: str) -> int:
    import h5py

    from cutaway.frameworks.keras.h5_check import checked_elements

    with h5py.File(weights, "r") as file:
        return checked_elements(file, size, path)


def _no_model(file: Any) -> str:
    if "layer_names" in file.attrs or "layers" in file or "_layer_checkpoint_dependencies" in file:
        return "it has weights, but no model: it was written by `save_weights`. Save the model with `model.save`."
    return "it is an HDF5 file without a model of Keras. `model.save('model.keras')` writes one."


@contextmanager
def _said_of(path: Path) -> Iterator[None]:
    """Whatever Keras or HDF5 raises about a file becomes an error that names the file."""
    try:
        yield
    except (CutawayError, MemoryError):
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        # Keras prints a whole configuration first, and what is wrong with it last.
        cause = next((line.partition(_CAUSE)[2] for line in reversed(lines) if _CAUSE in line), lines[0])
        raise ModelFormatError(str(path), f"Keras cannot read it: {cause.strip()[:500]}") from error


def _check_weights(keras: Any, build: Callable[[], Any], stored: int, path: str) -> None:
    """Raise `UnsafeModel` where the model that `build` makes would have more weights than the file has numbers.

    The model is made in Keras's scope without state, in which weights have shapes and no memory.
    """
    with _no_memory(keras):
        model = build()
    declared = sum(math.prod(variable.shape) for variable in {id(one): one for one in model.variables}.values())
    if declared > stored + _SLACK:
        raise UnsafeModel(path, f"its layers declare {declared:,} weights, but the file holds {stored:,} numbers.")


@contextmanager
def _no_memory(keras: Any) -> Iterator[None]:
    """Let variables have shapes alone, and forget them: the next scope of anyone would give them their memory."""
    from keras.src.backend.common import global_state

    pending = list(global_state.get_global_attribute("uninitialized_variables") or [])
    try:
        with keras.StatelessScope(initialize_variables=False):
            yield
    finally:
        global_state.set_global_attribute("uninitialized_variables", pending)
