"""What the name of a tensor tells: in which layer it is, and what it is there. Functions of names; reads nothing.

Knows the names of the PyTorch hook (`Net_fc1.weight`, `gradient/Net_fc1.weight`, `fc1_output_0`) and those in the
manner of Keras (`dense_1/kernel:0`). What it does not know is a layer of its own, never an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Literal

__all__ = ["EVERYWHERE", "GRADIENT", "Kind", "is_passed", "kind_of", "layer_of", "model_prefix"]

Kind = Literal["weight", "bias", "gradient", "output", "input", "loss", "other"]

# Collections that say nothing about a tensor.
EVERYWHERE = frozenset({"all", "default", "layers"})
GRADIENT = "gradient/"
_PASSED = re.compile(r"_(?P<what>input|output)s?_\d+$|/(?P<which>input|output)s?(?::\d+)?$")
_COUNTED = re.compile(r":\d+$")
_WEIGHTS = ("weight", "kernel", "gamma", "embeddings", "depthwise_kernel", "pointwise_kernel", "recurrent_kernel")
_BIASES = ("bias", "beta")
_LEAF = re.compile(r"(?P<layer>.*)[./](?P<leaf>[^./]+)$", re.DOTALL)


def kind_of(name: str, collections: Collection[str]) -> Kind:
    """Return what a tensor is: its collections say, or else its name.

    >>> kind_of("gradient/Net_fc1.bias", ["gradients"]), kind_of("dense/kernel:0", []), kind_of("fc1_output_0", [])
    ('gradient', 'weight', 'output')
    """
    if name.startswith(GRADIENT) or "gradients" in collections:
        return "gradient"
    if "optimizer_variables" in collections:
        # Named after the weight that it belongs to.
        return "other"
    for collection, kind in _BY_COLLECTION.items():
        if collection in collections:
            return kind
    passed = _PASSED.search(name)
    if passed is not None:
        return "output" if "output" in passed.groups() else "input"
    leaf = _COUNTED.sub("", re.split(r"[./]", name)[-1])
    if leaf.startswith(_WEIGHTS) or leaf.endswith(_WEIGHTS):
        return "weight"
    return "bias" if leaf.startswith(_BIASES) or leaf.endswith(_BIASES) else "other"


def is_passed(name: str) -> bool:
    """Whether a tensor is what a layer receives or returns, by its name."""
    return _PASSED.search(name) is not None


_BY_COLLECTION: dict[str, Kind] = {
    "losses": "loss",
    "biases": "bias",
    "weights": "weight",
    "inputs": "input",
    "labels": "input",
    "predictions": "input",
    "outputs": "output",
}


def model_prefix(names: Iterable[str], model: str = "") -> str:
    """Return what the hook puts before the names of a model's parameters, `Net_`, or nothing.

    `model` is the class that the run's configuration names; without it, what all parameters begin with.

    >>> model_prefix(["Net_fc1.weight", "gradient/Net_fc1.weight", "fc1_output_0"])
    'Net_'
    """
    parameters = [one for one in (name.removeprefix(GRADIENT) for name in names) if _is_parameter(one)]
    if model and any(one.startswith(f"{model}_") for one in parameters):
        return f"{model}_"
    beginnings = {one.partition("_")[0] for one in parameters}
    only = beginnings.pop() if len(beginnings) == 1 else ""
    # A class, and not a layer called `conv_1`.
    told = only[:1].isupper() and all(one.startswith(f"{only}_") for one in parameters)
    return f"{only}_" if told else ""


def layer_of(name: str, prefix: str = "") -> str:
    """Return the part of a tensor's name that says where in the model it is.

    >>> layer_of("gradient/Net_enc.0.fc.weight", "Net_"), layer_of("enc.0.fc_output_0"), layer_of("dense_1/kernel:0")
    ('enc.0.fc', 'enc.0.fc', 'dense_1')
    """
    own = name.removeprefix(GRADIENT)
    passed = _PASSED.search(own)
    if passed is not None:
        return own[: passed.start()] or own
    own = own.removeprefix(prefix) or own
    found = _LEAF.fullmatch(_COUNTED.sub("", own))
    if found is not None and found["layer"]:
        return found["layer"]
    # A parameter of the model itself has no layer but that.
    return prefix.removesuffix("_") if prefix and name.removeprefix(GRADIENT).startswith(prefix) else own


def _is_parameter(name: str) -> bool:
    leaf = re.split(r"[./]", name)[-1]
    return _PASSED.search(name) is None and "_" in name and leaf != name and leaf.endswith(("weight", "bias"))
