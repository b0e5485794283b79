"""A subset whose source hands out whole samples by position: a torch data set, a table of Hugging Face, a folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.arrays import known_subset, scalar
from cutaway.dataset.enums import Role
from cutaway.dataset.subset import NamedParts, Scalar, sample_id
from cutaway.errors import ConfigurationError, CutawayError, EncoderError, place_of

__all__ = ["ItemSubset", "as_item", "parts_by_name", "torch_subset"]

ONE_OF_EACH = 2
# Where so many in a row cannot be had, the others will not be either.
MOST_TRIED = 20
OURS = str(Path(__file__).parent.parent)


class ItemSubset:
    """Samples that come whole: all that is asked of one sample in a row costs one call of its source."""

    def __init__(
        self, name: str, length: int, fetch: Callable[[int], NamedParts], ids: Sequence[str] | None = None
    ) -> None:
        self.name = known_subset(name)
        self._length = length
        self._fetch = fetch
        self._ids = ids
        self._last = threading.local()

    def __len__(self) -> int:
        return self._length

    def ids(self, start: int, stop: int) -> list[str]:
        """Return the source's own ids, or the positions as text."""
        stop = min(stop, self._length)
        return [str(i) for i in range(start, stop)] if self._ids is None else list(self._ids[start:stop])

    def encode(self, role: Role, name: str, index: int) -> Array:
        """Return one part of a sample as an array."""
        item = self.item(index, role, name)
        parts = item.inputs if role is Role.INPUT else item.ground_truths
        if name not in parts:
            raise self._error(role, name, index, f"the sample has no such part; it has {', '.join(parts) or 'none'}.")
        try:
            return _as_array(parts[name])
        except (TypeError, ValueError) as error:
            raise self._error(role, name, index, str(error)) from error

    def encode_many(self, role: Role, name: str, start: int, stop: int) -> None:
        """Samples come one by one here."""

    def metadata(self, index: int) -> dict[str, Scalar]:
        """Return what else the source tells about a sample."""
        item = self.item(index)
        sample = sample_id(self.name, self.ids(index, index + 1)[0])
        return {name: scalar(value, name, sample) for name, value in item.metadata.items()}

    def response(self) -> None:
        """There is no binding, and so no response."""

    def item(self, index: int, kind: str = "metadata", name: str = "all") -> NamedParts:
        """Return a whole sample; `kind` and `name` say of what an error speaks."""
        if getattr(self._last, "index", None) == index:
            item: NamedParts = self._last.item
            return item
        try:
            item = self._fetch(index)
        except EncoderError:
            raise
        except (Exception, SystemExit) as error:  # it is somebody's code, and the next sample may be fine
            reason = str(error) if isinstance(error, CutawayError) else f"{type(error).__name__}: {error}"
            raise self._error(kind, name, index, reason, _their_place(error)) from error
        self._last.index, self._last.item = index, item
        return item

    def first_item(self) -> NamedParts:
        """Return the first sample that can be had: one broken file must not keep all others from being opened."""
        failed: EncoderError | None = None
        for index in range(min(self._length, MOST_TRIED)):
            try:
                return self.item(index)
            except EncoderError as error:
                failed = failed or error
        raise failed or ConfigurationError(f"The {self.name} subset has no samples.")

    def _error(self, kind: str, name: str, index: int, reason: str, place: str = "") -> EncoderError:
        return EncoderError(str(kind), name, sample_id(self.name, self.ids(index, index + 1)[0]), reason, place)


def torch_subset(name: str, dataset: Any, inputs: Sequence[str], ground_truths: Sequence[str]) -> ItemSubset:
    """Return a map-style data set of torch as a subset. Knows it by `len` and `[i]`, and imports no torch."""
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        hint = (
            "Give the data set that it loads: `loader.dataset`."
            if hasattr(dataset, "dataset")
            else "Give a data set with `__getitem__` and `__len__`; `list(dataset)` is one, where it fits into memory."
        )
        given = type(dataset).__name__
        message = f"{given} cannot be asked for its i-th sample: samples are known by their index here. {hint}"
        raise ConfigurationError(message)
    return ItemSubset(name, len(dataset), lambda index: as_item(dataset[index], inputs, ground_truths))


def as_item(sample: Any, inputs: Sequence[str] = (), ground_truths: Sequence[str] = ()) -> NamedParts:
    """Read a sample as people's data sets give it: (input, ground truth), a dictionary, or the input alone.

    Of a dictionary, `inputs` and `ground_truths` name the parts; what else it has and is a number or text is metadata.
    """
    if isinstance(sample, Mapping):
        if not inputs:
            message = f"A sample is a dictionary of {', '.join(map(str, sample))}: say which are `inputs=[...]`."
            raise ConfigurationError(message)
        named = {*inputs, *ground_truths}
        missing = [name for name in (*inputs, *ground_truths) if name not in sample]
        if missing:
            message = f"A sample has no part {missing[0]!r}; it has {', '.join(map(str, sample))}."
            raise ConfigurationError(message)
        rest = {str(key): _number_of_tensor(value) for key, value in sample.items() if key not in named}
        return NamedParts(
            {name: sample[name] for name in inputs},
            {name: sample[name] for name in ground_truths},
            {key: value for key, value in rest.items() if value is None or isinstance(value, (bool, int, float, str))},
        )
    if isinstance(sample, (tuple, list)):
        if len(sample) != ONE_OF_EACH:
            message = f"A sample must be (input, ground truth), a dictionary or one array, but is {len(sample)} things."
            raise ConfigurationError(message)
        return NamedParts(parts_by_name(sample[0], "input"), parts_by_name(sample[1], "ground_truth"))
    return NamedParts({"input": sample})


def parts_by_name(part: Any, name: str) -> Mapping[str, Any]:
    """Return named parts as they are, and one part under its usual name."""
    return part if isinstance(part, Mapping) else {name: part}


def _as_array(value: Any) -> Array:
    """Return a tensor, an image or a number as an array. Raises `TypeError` for what has no numbers."""
    detached = value.detach().cpu() if hasattr(value, "detach") else value
    array = np.asarray(detached)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"it must be made of numbers, but got {type(value).__name__} of dtype {array.dtype}.")
    return array


def _their_place(error: BaseException) -> str:
    """Return the line of somebody's own code that raised; nothing where only ours was underway, as with a bad file."""
    place = place_of(error)
    return "" if place.startswith(OURS) else place


def _number_of_tensor(value: Any) -> Any:
    """A tensor with one number is that number."""
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value
