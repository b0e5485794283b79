"""Turns the configuration of a model that Keras 2 wrote into what Keras 3 reads. Values in, values out; no Keras.

Keras 3 refuses some of what Keras 2 wrote although it means the same: arguments that were dropped, data types as
policies, and the numbering of calls of a model within a model. And it takes one name for something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutaway.errors import ModelFormatError

__all__ = ["HARD_SIGMOID", "is_of_keras_2", "translated"]

# What the hard sigmoid of Keras 2 is called in a translated configuration; that of Keras 3 has another slope.
HARD_SIGMOID = "hard_sigmoid_of_keras_2"

# What Keras 2 wrote and Keras 3 does not know, with the values that mean nothing: those are left out.
_GONE: Mapping[str, tuple[Any, ...]] = {
    "time_major": (False,),
    "input_length": (),
    "batch_input_shape": (),
    "renorm": (False,),
    "renorm_clipping": (None,),
    "renorm_momentum": (),
    "fused": (),
    "virtual_batch_size": (None,),
    "adjustment": (None,),
    "experimental_autocast": (),
    "query_shape": (),
    "key_shape": (),
    "value_shape": (),
    "implementation": (),
    "softmax_robust_masking": (False,),
    "rng_type": (),
}
# What layers inherited, wrote, and never used: of plain convolutions, of layers with weights.
_KERNEL = ("groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint")
_UNUSED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"), _KERNEL),
    **dict.fromkeys(("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), ("groups",)),
    **dict.fromkeys(("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"), ("trainable", "noise_shape")),
    # Whole numbers out; Keras 3 would make them of what comes in, too.
    "Discretization": ("trainable", "dtype"),
}
_MODELS = ("Functional", "Model", "Sequential")
# Where layers hold layers: Bidirectional, TimeDistributed, RNN.
_INNER = ("layer", "backward_layer", "cell")


def is_of_keras_2(version: str | None) -> bool:
    """Return whether a file of that `keras_version` is older than Keras 3; those that say none are."""
    return version is None or version.partition(".")[0] in ("", "0", "1", "2")


def translated(config: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the configuration of a model or a layer for Keras 3. Raises `ModelFormatError` where that has no equal."""
    name, inner = config["class_name"], config["config"]
    if name == "Sequential":
        return {**config, "config": _sequential(inner, path)}
    if name in _MODELS and "layers" in inner:
        return {**config, "class_name": "Functional", "config": _functional(inner, path)}
    return {**config, "config": _layer(name, inner, path)}


def _layer(name: str, inner: Mapping[str, Any], path: str) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for key, value in inner.items():
        if name == "InputLayer" and key == "batch_input_shape":
            config["batch_shape"] = value
        elif key in _GONE:
            if _GONE[key] and value not in _GONE[key]:
                layer = inner.get("name")
                raise ModelFormatError(path, f"layer {layer!r} has {key}={value!r}, which Keras 3 does not have.")
        elif key in _UNUSED.get(name, ()):
            continue
        elif value == "hard_sigmoid" and key.endswith("activation"):
            config[key] = {"module": "builtins", "class_name": "function", "config": HARD_SIGMOID}
        elif key == "dtype":
            config[key] = _dtype(value)
        elif isinstance(value, Mapping) and "class_name" in value and "config" in value and key in _INNER:
            config[key] = translated(value, path)
        elif key == "cells":
            config[key] = [translated(cell, path) for cell in value]
        else:
            config[key] = value
    return _renamed(name, config)


def _renamed(name: str, config: dict[str, Any]) -> dict[str, Any]:
    if name == "LeakyReLU" and "alpha" in config:
        config["negative_slope"] = config.pop("alpha")
    axis = config.get("axis")
    if name == "BatchNormalization" and isinstance(axis, list) and len(axis) == 1:
        config["axis"] = axis[0]
    return config


def _dtype(value: Any) -> Any:
    """A policy of Keras 2 by its name."""
    if isinstance(value, Mapping) and value.get("class_name") in ("Policy", "PolicyV1"):
        return value["config"].get("name")
    return value


def _sequential(inner: Any, path: str) -> dict[str, Any]:
    # Before Keras 2.3 a Sequential was the bare list of its layers.
    config = {"name": "sequential", "layers": inner} if isinstance(inner, list) else dict(inner)
    layers = [translated(layer, path) for layer in config["layers"]]
    first = config["layers"][0]
    shape = first["config"].get("batch_input_shape") if layers[0]["class_name"] != "InputLayer" else None
    if shape is not None:
        dtype = _dtype(first["config"].get("dtype", "float32"))
        given = {"batch_shape": shape, "dtype": dtype, "name": f"{first['config']['name']}_input"}
        layers.insert(0, {"class_name": "InputLayer", "config": given})
    config.pop("build_input_shape", None)
    return {**config, "layers": layers}


def _functional(inner: Mapping[str, Any], path: str) -> dict[str, Any]:
    first_call = {layer["name"]: _first_call(layer, inner) for layer in inner["layers"]}
    layers = []
    for layer in inner["layers"]:
        nodes = [_node(node, first_call) for node in layer.get("inbound_nodes", [])]
        layers.append({**translated(layer, path), "inbound_nodes": nodes})
    ends = {key: _ends(inner[key], first_call) for key in ("input_layers", "output_layers")}
    return {**inner, "layers": layers, **ends}


def _first_call(layer: Mapping[str, Any], model: Mapping[str, Any]) -> int:
    """How the first call of a layer is numbered: from 1 in Keras 2 where the layer is itself a model."""
    if layer["class_name"] not in _MODELS:
        return 0
    calls = len(layer.get("inbound_nodes", []))
    used = [reference[1] for reference in _references(model) if reference[0] == layer["name"]]
    return 1 if used and max(used) >= calls else 0


def _references(model: Mapping[str, Any]) -> list[list[Any]]:
    found: list[list[Any]] = []
    waiting: list[Any] = [layer.get("inbound_nodes", []) for layer in model["layers"]]
    waiting += [model["input_layers"], model["output_layers"]]
    while waiting:
        value = waiting.pop()
        if _is_reference(value):
            found.append(value)
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
    return found


def _is_reference(value: Any) -> bool:
    kinds = [type(part) for part in value[:3]] if isinstance(value, list) else []
    return kinds == [str, int, int] and len(value) in (3, 4)


def _node(node: Any, first_call: Mapping[str, int]) -> Any:
    """One call of a layer: its arguments as Keras 3 writes them."""
    if not isinstance(node, list):
        return node
    references = [node] if _is_reference(node) else node
    tensors = [_tensor(reference, first_call) for reference in references]
    named = references[0][3] if references and len(references[0]) == 4 else {}
    arguments = {key: _argument(value, first_call) for key, value in named.items()}
    return {"args": [tensors[0] if len(tensors) == 1 else tensors], "kwargs": arguments}


def _argument(value: Any, first_call: Mapping[str, int]) -> Any:
    if _is_reference(value) and value[0] in first_call:
        return _tensor(value, first_call)
    if isinstance(value, list):
        return [_argument(item, first_call) for item in value]
    return value


def _tensor(reference: list[Any], first_call: Mapping[str, int]) -> dict[str, Any]:
    # Keras finds the tensor by its history alone; shape and type are those of the layer that is called.
    history = _shifted(reference, first_call)[:3]
    return {"class_name": "__keras_tensor__", "config": {"shape": [], "dtype": "float32", "keras_history": history}}


def _ends(value: Any, first_call: Mapping[str, int]) -> Any:
    if _is_reference(value):
        return _shifted(value, first_call)
    if isinstance(value, list):
        return [_ends(item, first_call) for item in value]
    if isinstance(value, Mapping):
        return {key: _ends(item, first_call) for key, item in value.items()}
    return value


def _shifted(reference: list[Any], first_call: Mapping[str, int]) -> list[Any]:
    return [reference[0], reference[1] - first_call.get(reference[0], 0), *reference[2:]]
