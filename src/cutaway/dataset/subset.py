"""One subset of a data set, as everybody who reads samples sees it, wherever they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cutaway.arrays import Array
from cutaway.dataset.enums import Role

__all__ = ["NamedParts", "Scalar", "Subset", "sample_id"]

Scalar = None | bool | int | float | str


class Subset(Protocol):
    """The samples of one subset, by their position from 0.

    - Positions and ids do not change for the life of the object, and a sample's id is the same in every process.
    - `encode` and `metadata` may be called by several threads at once, in any order, any number of times.
    - What somebody's function raises, or returns and cannot be used, comes out as `EncoderError` with their file and
      line; the next sample can still be asked for.
    - `encode_many` is for sources that have whole arrays; None means: ask for one sample at a time.
    """

    @property
    def name(self) -> str:
        """training, validation, test or unlabeled."""

    def __len__(self) -> int:
        """How many samples there are."""

    def ids(self, start: int, stop: int) -> list[str]:
        """Return the samples' own ids, without the subset, of the positions from `start` up to `stop`."""

    def encode(self, role: Role, name: str, index: int) -> Array:
        """Return one input or ground truth of one sample, without a batch axis."""

    def encode_many(self, role: Role, name: str, start: int, stop: int) -> Array | None:
        """Return one input or ground truth of many samples, stacked; or None where it has to be asked for singly."""

    def metadata(self, index: int) -> dict[str, Scalar]:
        """Return every metadata value of one sample, by column."""

    def response(self) -> Any:
        """Return what the binding's preprocess function made of this subset; None where there is no binding."""


@dataclass(frozen=True)
class NamedParts:
    """Inputs, ground truths and metadata by their names: the values of one sample, or the columns of many."""

    inputs: Mapping[str, Any]
    ground_truths: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


def sample_id(subset: str, own: str) -> str:
    """Return the id by which the whole product knows a sample.

    >>> sample_id("training", "7")
    'training/7'
    """
    return f"{subset}/{own}"
