"""Data sets of Hugging Face's `datasets` as subsets. Knows them by what they do, and imports none of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cutaway.dataset.dataset import Dataset
from cutaway.dataset.items import Item, ItemSubset, as_item
from cutaway.dataset.torch_data import of_items
from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["from_huggingface"]

SPLITS = {
    "train": "training",
    "training": "training",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "test": "test",
    "unsupervised": "unlabeled",
    "unlabeled": "unlabeled",
}


def from_huggingface(
    dataset: Any,
    *,
    inputs: Sequence[str],
    ground_truths: Sequence[str] = (),
    labels: Sequence[str] = (),
    subset: str = "training",
) -> Dataset:
    """See `Dataset.from_huggingface`."""
    if not isinstance(dataset, Mapping):
        return _dataset_of_split(dataset, inputs, ground_truths, labels, subset)
    parts = []
    for split, one in dataset.items():
        name = SPLITS.get(str(split))
        if name is None:
            message = f"The split {split!r} is no subset of ours."
            raise ConfigurationError(message, hint=f"{did_you_mean(str(split), SPLITS)} Rename or drop it.")
        parts.append(_dataset_of_split(one, inputs, ground_truths if name != "unlabeled" else (), labels, name))
    return Dataset.join(*parts)


def _dataset_of_split(
    dataset: Any, inputs: Sequence[str], ground_truths: Sequence[str], labels: Sequence[str], subset: str
) -> Dataset:
    columns = getattr(dataset, "column_names", None)
    if columns is None or not hasattr(dataset, "__len__"):
        message = (
            f"`from_huggingface` takes a datasets.Dataset, but got {type(dataset).__name__}, whose samples cannot be "
            "asked for by their index."
        )
        raise ConfigurationError(message, hint="Load it without `streaming=True`.")
    for name in (*inputs, *ground_truths):
        if name not in columns:
            message = f"The data set has no column {name!r}."
            raise ConfigurationError(message, hint=f"{did_you_mean(name, columns)} It has {', '.join(columns)}.")

    def fetch(index: int) -> Item:
        return as_item(dataset[index], inputs, ground_truths)

    named = tuple(labels) or _class_labels(dataset, ground_truths)
    bound = of_items(ItemSubset(subset, len(dataset), fetch), labels=named, channel_dim=-1, kind="huggingface")
    # Its own digest of everything that was done to the data.
    fingerprint = getattr(dataset, "_fingerprint", None)
    return replace(bound, source={"kind": "huggingface", "digest": fingerprint}) if fingerprint else bound


def _class_labels(dataset: Any, ground_truths: Sequence[str]) -> tuple[str, ...]:
    features = getattr(dataset, "features", None) or {}
    names = [getattr(features.get(name), "names", None) for name in ground_truths]
    return tuple(next((found for found in names if found), ()))
