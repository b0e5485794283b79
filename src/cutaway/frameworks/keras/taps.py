"""Looks at the values that layers return during one forward pass, and may put others in their place.

Works on the instances: for as long as a tap is open a layer has a `call` of its own, which is taken away at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import keras

from cutaway.frameworks.keras.anatomy import LayerCall

__all__ = ["first_tensor", "tapped"]

Keep = Callable[[LayerCall, Any], Any]


@contextmanager
def tapped(calls: Sequence[LayerCall], keep: Keep) -> Iterator[None]:
    """Call `keep(call, value)` with what each of the calls returns; the model goes on with what `keep` returns.

    Of a layer that returns several tensors it is the first.
    """
    wanted: dict[int, dict[int, LayerCall]] = {}
    for call in calls:
        wanted.setdefault(id(call.operation), {})[call.index] = call
    operations = {id(call.operation): call.operation for call in calls}
    before = {key: vars(operation).get("call") for key, operation in operations.items()}
    try:
        for key, operation in operations.items():
            # Past Keras's own `__setattr__`, which would track the function as part of the layer.
            object.__setattr__(operation, "call", _watched(operation.call, wanted[key], keep))
        yield
    finally:
        for key, operation in operations.items():
            if before[key] is None:
                vars(operation).pop("call", None)
            else:
                object.__setattr__(operation, "call", before[key])


def first_tensor(result: Any) -> Any:
    """Return the first tensor of what a layer returned, or None."""
    return next((part for part in keras.tree.flatten(result) if hasattr(part, "shape")), None)


def _watched(call: Callable[..., Any], wanted: dict[int, LayerCall], keep: Keep) -> Callable[..., Any]:
    count = 0

    def watched(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        result = call(*args, **kwargs)
        count += 1
        if count - 1 not in wanted:
            return result
        parts = keras.tree.flatten(result)
        at = next((i for i, part in enumerate(parts) if hasattr(part, "shape")), None)
        if at is None:
            return result
        parts[at] = keep(wanted[count - 1], parts[at])
        return keras.tree.pack_sequence_as(result, parts)

    return watched
