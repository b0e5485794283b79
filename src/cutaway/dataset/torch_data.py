"""A map-style data set of torch as a subset. Knows it by what it does (`len` and `[i]`), and imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cutaway.dataset.dataset import Dataset
from cutaway.dataset.functions import Field, MetadataField
from cutaway.dataset.items import Item, ItemSubset, as_item
from cutaway.errors import ConfigurationError, EncoderError

__all__ = ["from_torch"]

# Where so many in a row cannot be had, the others will not be either.
MOST_TRIED = 20


def from_torch(
    dataset: Any,
    *,
    inputs: Sequence[str] = (),
    ground_truths: Sequence[str] = (),
    labels: Sequence[str] = (),
    subset: str = "training",
    channel_dim: int = 1,
) -> Dataset:
    """See `Dataset.from_torch`."""
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        hint = (
            "Give the data set that it loads: `loader.dataset`."
            if hasattr(dataset, "dataset")
            else "Give a data set with `__getitem__` and `__len__`; `list(dataset)` is one, where it fits into memory."
        )
        name = type(dataset).__name__
        message = f"{name} cannot be asked for its i-th sample: samples are known by their index here. {hint}"
        raise ConfigurationError(message)

    def fetch(index: int) -> Item:
        return as_item(dataset[index], inputs, ground_truths)

    return of_items(
        ItemSubset(subset, len(dataset), fetch),
        labels=tuple(labels or getattr(dataset, "classes", ())),
        channel_dim=channel_dim,
        kind="torch",
    )


def of_items(subset: ItemSubset, *, labels: tuple[str, ...], channel_dim: int, kind: str) -> Dataset:
    """Return a data set of one subset; its first sample that can be had shows what parts the samples have."""
    first = _first_item(subset)
    return Dataset(
        subsets={subset.name: subset},
        inputs=tuple(Field(name, channel_dim=channel_dim) for name in first.inputs),
        ground_truths=tuple(Field(name, labels=labels) for name in first.ground_truths),
        metadata=tuple(MetadataField(name) for name in first.metadata),
        source={"kind": kind},
    )


def _first_item(subset: ItemSubset) -> Item:
    """Return the first sample that can be had: one broken file must not keep all others from being opened."""
    failed: EncoderError | None = None
    for index in range(min(len(subset), MOST_TRIED)):
        try:
            return subset.item(index)
        except EncoderError as error:
            failed = failed or error
    raise failed or ConfigurationError(f"The {subset.name} subset has no samples.")
