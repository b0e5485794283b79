"""Compares the weights that a configuration declares with those that its file holds, before any is allocated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cutaway.errors import UnsafeModel

__all__ = ["check_weights"]

# What layers keep that a file need not hold: states of random numbers, counters.
SLACK = 100_000


def check_weights(keras: Any, build: Callable[[], Any], stored: int, path: str) -> None:
    """Raise `UnsafeModel` where the model that `build` makes would have more weights than the file has numbers.

    The model is made in Keras's scope without state, in which weights have shapes and no memory.
    """
    with _no_memory(keras):
        model = build()
    declared = sum(math.prod(variable.shape) for variable in {id(one): one for one in model.variables}.values())
    if declared > stored + SLACK:
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
