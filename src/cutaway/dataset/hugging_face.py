"""Data sets of Hugging Face's `datasets` as subsets. Knows them by what they do, and imports none of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cutaway.dataset.items import ItemSubset, as_item
from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["SPLITS", "class_labels", "split_subsets"]

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


def split_subsets(
    dataset: Any, inputs: Sequence[str], ground_truths: Sequence[str], subset: str
) -> Iterator[tuple[Any, ItemSubset]]:
    """Yield each split of a dictionary of them, or the one that is given, with the subset that it becomes."""
    if not isinstance(dataset, Mapping):
        yield dataset, _subset_of_split(dataset, inputs, ground_truths, subset)
        return
    for split, one in dataset.items():
        name = SPLITS.get(str(split))
        if name is None:
            message = f"The split {split!r} is no subset of ours."
            raise ConfigurationError(message, hint=f"{did_you_mean(str(split), SPLITS)} Rename or drop it.")
        yield one, _subset_of_split(one, inputs, ground_truths if name != "unlabeled" else (), name)


def _subset_of_split(split: Any, inputs: Sequence[str], ground_truths: Sequence[str], subset: str) -> ItemSubset:
    columns = getattr(split, "column_names", None)
    if columns is None or not hasattr(split, "__len__"):
        message = (
            f"`from_huggingface` takes a datasets.Dataset, but got {type(split).__name__}, whose samples cannot be "
            "asked for by their index."
        )
        raise ConfigurationError(message, hint="Load it without `streaming=True`.")
    for name in (*inputs, *ground_truths):
        if name not in columns:
            message = f"The data set has no column {name!r}."
            raise ConfigurationError(message, hint=f"{did_you_mean(name, columns)} It has {', '.join(columns)}.")
    return ItemSubset(subset, len(split), lambda index: as_item(split[index], inputs, ground_truths))


def class_labels(split: Any, ground_truths: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the classes of the first ground truth that has them."""
    features = getattr(split, "features", None) or {}
    names = [getattr(features.get(name), "names", None) for name in ground_truths]
    return tuple(next((found for found in names if found), ()))
