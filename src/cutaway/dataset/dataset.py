"""`Dataset`: a data set and everything that is bound to it, however it was bound. Calls nobody's function by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cutaway.dataset.enums import DataStateType
from cutaway.dataset.functions import Field, LatentSpace, Loss, MetadataField, Metric, Visualizer
from cutaway.dataset.subset import Subset

__all__ = ["Dataset"]


@dataclass(frozen=True)
class Dataset:
    """The subsets of a data set by name, and what is bound to them.

    `predictions` declare the model's outputs, in its order; empty where nobody declared them. `custom_layers` are the
    classes that a model file needs. `load_model` brings the model where the binding does. `source` says what this was
    made from, for `source.json`: a kind, and where it has one the entry file and its digest.
    """

    subsets: Mapping[str, Subset]
    inputs: tuple[Field, ...]
    ground_truths: tuple[Field, ...] = ()
    metadata: tuple[MetadataField, ...] = ()
    predictions: tuple[Field, ...] = ()
    metrics: tuple[Metric, ...] = ()
    losses: tuple[Loss, ...] = ()
    visualizers: tuple[Visualizer, ...] = ()
    latent_spaces: tuple[LatentSpace, ...] = ()
    custom_layers: Mapping[str, Any] = field(default_factory=dict)
    load_model: Callable[[], Any] | None = None
    source: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        """How many samples all subsets have together."""
        return sum(len(subset) for subset in self.subsets.values())

    def labelled(self, subset: str) -> bool:
        """Whether the samples of a subset have ground truths."""
        return bool(self.ground_truths) and subset != DataStateType.unlabeled
