"""Decides whether a model's configuration names only what Keras may make of it. Imports nothing that it names.

Every `class_name` has to be a class of Keras of the kinds that models consist of, a function that Keras itself saves by
name, or a class that the user's own entry file declared. Layers that hold code or read files are refused by name.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from cutaway.errors import ModelFormatError, UnsafeModel

__all__ = ["check_config", "parsed"]

# Keras nests a few levels for each model within a model; its own reading is recursive.
DEEPEST = 200

# Where Keras looks classes up, by the name that it writes for them.
_CLASSES = (
    "keras", "keras.layers", "keras.models", "keras.initializers", "keras.regularizers", "keras.constraints",
    "keras.dtype_policies", "keras.optimizers", "keras.optimizers.schedules", "keras.losses", "keras.metrics",
    "keras.quantizers", "keras.random",
)  # fmt: skip
_FUNCTIONS = ("keras.activations", "keras.losses", "keras.metrics", "keras.initializers", "keras.ops")
_BASES = (
    "Operation", "initializers.Initializer", "regularizers.Regularizer", "constraints.Constraint", "losses.Loss",
    "optimizers.Optimizer", "optimizers.schedules.LearningRateSchedule", "metrics.Metric", "dtype_policies.DTypePolicy",
    "quantizers.Quantizer", "random.SeedGenerator",
)  # fmt: skip
# Values that Keras writes in this form; none of them makes anything but a value.
_VALUES = {"__keras_tensor__", "__tensor__", "__numpy__", "__bytes__", "__ellipsis__", "__slice__"}
_NUMBERS = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bfloat16", "float16", "float32",
    "float64", "complex64", "complex128", "string",
}  # fmt: skip
_CODE = {
    "Lambda": "a Lambda layer, which is Python code inside the file",
    "__lambda__": "Python code inside the file",
    "TFSMLayer": "a layer that loads a SavedModel from another folder",
    "TorchModuleWrapper": "a pickled module of torch",
    "JaxLayer": "a function of JAX",
    "FlaxLayer": "a module of Flax",
    "__typespec__": "a type of TensorFlow",
}
# Operations of TensorFlow that Keras 2 took for layers, and layers that Keras 3 has left out.
_GONE = {
    "TFOpLambda", "SlicingOpLambda", "ClassMethod", "InstanceMethod", "InstanceProperty", "TensorFlowOpLayer",
    "LocallyConnected1D", "LocallyConnected2D", "ThresholdedReLU", "CuDNNLSTM", "CuDNNGRU", "RandomFourierFeatures",
    "DenseFeatures", "AddLoss", "AddMetric",
}  # fmt: skip
_FILES = ("vocabulary", "vocabulary_file", "idf_weights")


def parsed(text: str | bytes, path: str) -> dict[str, Any]:
    """Return the configuration that a JSON text holds."""
    try:
        config = json.loads(text)
    except RecursionError as error:
        raise UnsafeModel(path, "its configuration is nested too deeply.") from error
    except ValueError as error:
        raise ModelFormatError(path, f"its configuration is no JSON: {error}") from error
    if not isinstance(config, dict) or not isinstance(config.get("config"), dict | list):
        raise ModelFormatError(path, "its configuration describes no model.")
    return config


def check_config(config: Mapping[str, Any], keras: Any, custom: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the custom objects that the configuration names, as Keras looks them up. Raises `UnsafeModel`.

    What the model was compiled with is left out: it is shown to people, and never made.
    """
    check = _ConfigurationCheck(keras, custom, path)
    for entry, owner in _entries(config, path):
        check.entry(entry, owner)
    return check.used


def _entries(config: Mapping[str, Any], path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Every mapping that names a class, with the name of the layer that it belongs to."""
    whole = {key: value for key, value in config.items() if key != "compile_config"}
    waiting: list[tuple[Any, str, int]] = [(whole, "model", 0)]
    while waiting:
        value, owner, depth = waiting.pop()
        if depth > DEEPEST:
            raise UnsafeModel(path, f"its configuration is nested deeper than {DEEPEST} levels.")
        if isinstance(value, Mapping):
            owner = _name_of(value) or owner
            if "class_name" in value:
                yield value, owner
            waiting.extend((item, owner, depth + 1) for item in value.values())
        elif isinstance(value, list):
            waiting.extend((item, owner, depth + 1) for item in value)


def _name_of(entry: Mapping[str, Any]) -> str:
    inner = entry.get("config")
    name = inner.get("name") if isinstance(inner, Mapping) else entry.get("name")
    # Policies and initializers have names too, which say nothing about where they are.
    return name if isinstance(name, str) and ("inbound_nodes" in entry or isinstance(inner, Mapping)) else ""


class _ConfigurationCheck:
    """One configuration against one set of custom classes."""

    def __init__(self, keras: Any, custom: Mapping[str, Any], path: str) -> None:
        self._keras, self._path = keras, path
        self._custom = {**keras.saving.get_custom_objects(), **custom}
        self._bases = tuple(_attribute(keras, name) for name in _BASES if _attribute(keras, name) is not None)
        self.used: dict[str, Any] = {}

    def entry(self, entry: Mapping[str, Any], owner: str) -> None:
        """Raise for an entry that must not be made."""
        name, inner = entry["class_name"], entry.get("config")
        if not isinstance(name, str):
            raise UnsafeModel(self._path, f"layer {owner!r} names a class by {type(name).__name__}, not by a text.")
        self._check_files(inner, owner)
        if name in _VALUES:
            self._check_value(name, inner, owner)
        elif name in _CODE:
            self._refuse(owner, f"is {_CODE[name]}. Put the code into a layer class of your own instead")
        elif name in _GONE:
            raise ModelFormatError(
                self._path,
                f"layer {owner!r} is a {name} of Keras 2, which Keras 3 does not have.",
                hint=(
                    "Save the model as a folder where it still runs: `tf.saved_model.save(model, 'folder')`, and give "
                    "the folder."
                ),
            )
        elif name == "function":
            self._check_function(entry, inner, owner)
        else:
            self._check_class(entry, name, owner)

    def _check_function(self, entry: Mapping[str, Any], name: object, owner: str) -> None:
        module = entry.get("module")
        if not isinstance(name, str):
            self._refuse(owner, "names a function by something else than its name")
            return
        if name in self._custom:
            self.used[name] = self._custom[name]
            return
        places = _FUNCTIONS if module == "builtins" else tuple(one for one in _FUNCTIONS if one == module)
        found = next((one for one in (self._public(place, name) for place in places) if one is not None), None)
        if not inspect.isfunction(found):
            self._refuse(owner, f"names the function `{module}.{name}`, which is no part of a model")

    def _check_class(self, entry: Mapping[str, Any], name: str, owner: str) -> None:
        module, registered = entry.get("module"), entry.get("registered_name")
        own = self._own(name, registered)
        if own is not None:
            self.used |= {key: own for key in (name, registered) if isinstance(key, str)}
            return
        if registered not in (None, name):
            self._refuse(owner, f"is a `{registered}`, {_UNKNOWN}")
        if "module" not in entry:
            found = self._of_h5(name)
        elif isinstance(module, str) and module in _CLASSES:
            found = self._public(module, name)
        elif isinstance(module, str) and module.startswith("keras.src."):
            # Of what is imported already: the name in a file never makes Python import anything.
            found = vars(sys.modules[module]).get(name) if module in sys.modules else None
        else:
            found = None
        if found is None and "module" not in entry and _is_operation(name):
            raise ModelFormatError(
                self._path,
                f"layer {owner!r} is the operation `{name}`, which Keras writes into .h5 files but cannot find again.",
                hint="Save the model with `model.save('model.keras')`.",
            )
        if not self._is_part(found):
            what = name if module is None else f"{module}.{name}"
            self._refuse(owner, f"is a `{what}`, {_UNKNOWN}")

    def _of_h5(self, name: str) -> Any:
        """What a name without a module stands for, as .h5 files have them."""
        if name == "Functional":
            return self._keras.Model
        # Some layers have another name in public than their class has.
        layer = vars(sys.modules["keras.src.layers"]).get(name)
        places = (layer, *(self._public(place, name) for place in _CLASSES))
        return next((found for found in places if self._is_part(found)), None)

    def _own(self, name: str, registered: object) -> Any:
        keys = [registered, name] if isinstance(registered, str) else [name]
        keys += [key.rpartition(">")[2] for key in keys if isinstance(key, str)]
        return next((self._custom[key] for key in keys if key in self._custom), None)

    def _public(self, place: str, name: str) -> Any:
        inside = _attribute(self._keras, place.removeprefix("keras").removeprefix("."))
        return getattr(inside, name, None) if name.isidentifier() and not name.startswith("_") else None

    def _is_part(self, found: Any) -> bool:
        return isinstance(found, type) and issubclass(found, self._bases) and found.__name__ not in _CODE

    def _check_value(self, name: str, inner: object, owner: str) -> None:
        dtype = inner.get("dtype", "float32") if isinstance(inner, Mapping) else "float32"
        if name in ("__numpy__", "__tensor__") and dtype not in _NUMBERS:
            self._refuse(owner, f"holds an array of {dtype!r}")

    def _check_files(self, inner: object, owner: str) -> None:
        for key in _FILES:
            if isinstance(inner, Mapping) and isinstance(inner.get(key), str):
                self._refuse(owner, f"reads a file of this machine, {inner[key]!r}. Give the words themselves")

    def _refuse(self, owner: str, why: str) -> None:
        reason = f"layer {owner!r} {why}, or load the file with `trust=True` (`--trust`) if you know who wrote it."
        raise UnsafeModel(self._path, reason)


_UNKNOWN = (
    "which is neither Keras's own nor declared by an entry file. Declare it with `@tensorleap_custom_layer` and give "
    "the entry file"
)


def _is_operation(name: str) -> bool:
    loaded = (vars(module) for path, module in list(sys.modules.items()) if path.startswith("keras.src.ops."))
    return any(isinstance(names.get(name), type) for names in loaded)


def _attribute(package: Any, dotted: str) -> Any:
    for part in filter(None, dotted.split(".")):
        package = getattr(package, part, None)
    return package
