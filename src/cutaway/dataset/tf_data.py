"""A `tf.data.Dataset`, read once into arrays. Knows it by what it does, and imports no TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.dataset.items import as_item
from cutaway.dataset.subset import NamedParts
from cutaway.errors import ConfigurationError

__all__ = ["read_columns"]

INFINITE = -1  # what `cardinality()` answers for a data set that repeats for ever


def read_columns(
    dataset: Any, inputs: Sequence[str], ground_truths: Sequence[str], *, batched: bool, memory_mb: int
) -> NamedParts:
    """Return all samples as columns: arrays of inputs and ground truths, lists of metadata."""
    if not hasattr(dataset, "as_numpy_iterator"):
        raise ConfigurationError(f"`from_tf_data` takes a tf.data.Dataset, but got {type(dataset).__name__}.")
    if int(dataset.cardinality()) == INFINITE:
        raise ConfigurationError(
            "This tf.data.Dataset repeats for ever.", hint="Call it before `repeat()`, or `take(n)` of it."
        )
    items = list(_refuse_more_than(_items(dataset, inputs, ground_truths, batched=batched), memory_mb))
    if not items:
        raise ConfigurationError("The tf.data.Dataset has no samples.")
    return NamedParts(
        _stacked([item.inputs for item in items]),
        _stacked([item.ground_truths for item in items]),
        {name: [item.metadata[name] for item in items] for name in items[0].metadata},
    )


def _items(dataset: Any, inputs: Sequence[str], ground_truths: Sequence[str], *, batched: bool) -> Iterator[NamedParts]:
    for element in (dataset.unbatch() if batched else dataset).as_numpy_iterator():
        yield as_item(_decoded(element), inputs, ground_truths)


def _decoded(element: Any) -> Any:
    """TensorFlow has text as bytes."""
    if isinstance(element, Mapping):
        return {
            key: value.decode(errors="replace") if isinstance(value, bytes) else value for key, value in element.items()
        }
    return element


def _refuse_more_than(items: Iterator[NamedParts], memory_mb: int) -> Iterator[NamedParts]:
    used = 0
    for item in items:
        used += sum(np.asarray(part).nbytes for parts in (item.inputs, item.ground_truths) for part in parts.values())
        if used > memory_mb * 1_000_000:
            message = f"This tf.data.Dataset has more than `memory_mb={memory_mb}` of samples."
            raise ConfigurationError(
                message,
                hint=(
                    "Raise it, take fewer samples, or bind the data by functions of an index, which are asked for one "
                    "sample at a time."
                ),
            )
        yield item


def _stacked(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    stacked = {}
    for name in parts[0]:
        values = [np.asarray(part[name]) for part in parts]
        shapes = {value.shape for value in values}
        if len(shapes) > 1:
            message = f"All samples must have one shape, but {name!r} has {sorted(shapes)[:3]}."
            raise ConfigurationError(message, hint="Pad or resize them first.")
        stacked[name] = np.stack(values)
    return stacked
