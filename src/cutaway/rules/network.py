"""What a run knows of the network that it watched, as far as advice depends on it: its activations, by their types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cutaway.errors import RunDamaged, RunFormatError
from cutaway.run.identity import Run
from cutaway.run.layout import MODEL_ORDER_FILE
from cutaway.tensors.collections import DEFAULT_PATTERNS
from cutaway.trial.collections_file import collections_of

__all__ = ["SeenNetwork", "network_of"]

# Their slope comes near zero on both sides, so that each layer shrinks the gradient.
SATURATING = ("Sigmoid", "Tanh", "Hardsigmoid", "Hardtanh", "LogSigmoid", "Softsign", "Tanhshrink")
# Their slope is one over half of their inputs.
OPEN = ("ReLU", "ReLU6", "LeakyReLU", "PReLU", "RReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "Softplus")
# Which activation a collection that the hook fills by type tells of; releases before 0.1 wrote no more.
_BY_COLLECTION = {"relu_inputs": "ReLU", "tanh_inputs": "Tanh", "sigmoid_inputs": "Sigmoid"}


@dataclass(frozen=True)
class SeenNetwork:
    """The types of the activations between the layers of a network, in their order; none where nothing is known."""

    activations: tuple[str, ...] = ()

    @property
    def saturating(self) -> tuple[str, ...]:
        """Those that shrink every gradient that passes them."""
        return tuple(one for one in self.activations if one in SATURATING)

    @property
    def open(self) -> tuple[str, ...]:
        """Those that let a gradient pass as it is: ReLU and its kind."""
        return tuple(one for one in self.activations if one in OPEN)


def network_of(run: Run) -> SeenNetwork:
    """Return what is known of the network of a run."""
    types = _types_in_order(run)
    if types:
        # The last layer of all shapes the answer, and shrinks the gradient once only.
        return SeenNetwork(_known(types[:-1]))
    found = collections_of(run)
    filled = [name for name in _BY_COLLECTION if set(found.get(name).include_regex) - set(DEFAULT_PATTERNS[name])]
    return SeenNetwork(tuple(_BY_COLLECTION[name] for name in filled))


def _known(types: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in types if one in (*SATURATING, *OPEN)))


def _types_in_order(run: Run) -> list[str]:
    """Return the types of the layers that a forward called, in its order; none where no forward was heard."""
    try:
        told = run.document(MODEL_ORDER_FILE) or {}
    except (OSError, RunDamaged, RunFormatError):
        return []
    layers, types = told.get("forward"), told.get("types")
    if not isinstance(layers, list) or not isinstance(types, dict):
        return []
    return [types[name] for name in layers if isinstance(name, str) and isinstance(types.get(name), str)]
