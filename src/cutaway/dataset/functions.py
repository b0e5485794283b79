"""What is bound to a data set beside its encoders: metrics, losses, visualizers and latent spaces.

Each is somebody's function of named arguments. `wiring` says what each argument is given; who calls them is evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from cutaway.dataset.enums import DatasetMetadataType, LatentReduction, LeapDataType, MetricDirection

__all__ = [
    "AnyFunction",
    "Field",
    "Function",
    "LatentSpace",
    "Loss",
    "MetadataField",
    "MetadataTypes",
    "Metric",
    "Visualizer",
]

# One for all, or one for each key of the dictionary that a function returns.
MetadataTypes: TypeAlias = DatasetMetadataType | Mapping[str, DatasetMetadataType] | None


@dataclass(frozen=True)
class Field:
    """An input, a ground truth or a prediction as it was declared.

    `labels` name the classes along `channel_dim`; `type` is a `DatasetInputType` or `DatasetOutputType`, or empty.
    """

    name: str
    labels: tuple[str, ...] = ()
    channel_dim: int = -1
    type: str = ""


@dataclass(frozen=True)
class MetadataField:
    """A metadata function as it was declared; one that returns a dictionary makes a column `<name>_<key>` of each key.

    `metadata_type` is None where none was declared, and a mapping by key where each has its own.
    """

    name: str
    metadata_type: MetadataTypes = None


@dataclass(frozen=True)
class Function:
    """Somebody's function of a batch, or, where `per_sample`, of one sample without a batch axis.

    `arguments` are its parameters less the one that is given the `SamplePreprocessResponse`, which `injected` names.
    `wiring` says for each argument `input.<name>`, `ground_truth.<name>` or `prediction.<name>` where the integration
    test showed it; empty where names decide. `place` is the file and line of its definition.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[str, ...]
    injected: str | None = None
    wiring: Mapping[str, str] = field(default_factory=dict)
    place: str = ""


@dataclass(frozen=True)
class Loss(Function):
    """A loss: a batch in, one number a sample out."""


@dataclass(frozen=True)
class Metric(Function):
    """A metric: a batch in, one number a sample out, or a dictionary of those, or lists of confusion elements.

    `direction` and `compute_insights` may differ by key of the dictionary.
    """

    direction: MetricDirection | Mapping[str, MetricDirection] | None = MetricDirection.Downward
    compute_insights: bool | Mapping[str, bool] | None = None


@dataclass(frozen=True)
class Visualizer(Function):
    """A visualizer: one sample in, one `Leap...` object out. `heatmap` maps a heat map through the same geometry.

    `uncalled` says that there is an integration test, and that it never calls this one: what it is given is then a
    guess by the names of its arguments, and it is left out where there is none.
    """

    visualizer_type: LeapDataType = LeapDataType.Image
    heatmap: Callable[..., Any] | None = None
    uncalled: bool = False


@dataclass(frozen=True)
class LatentSpace(Function):
    """A latent space of somebody's own: one vector, or more axes that `reduce` makes one of, for each sample."""

    use_for_analysis: bool = False
    reduce: LatentReduction = LatentReduction.MEAN_POOL
    n_components: int = 512
    channel_axis: int = -1


AnyFunction = TypeVar("AnyFunction", bound=Function)
