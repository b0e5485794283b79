"""What a binder was told, one value for each call. Checks names and arguments; calls nobody's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cutaway.dataset.enums import MetricDirection, Role
from cutaway.dataset.functions import Field, MetadataField
from cutaway.errors import BindingError

__all__ = [
    "CustomLayer",
    "Encoder",
    "MetadataFunction",
    "SubsetFunction",
    "check_channel_dim",
    "check_direction",
    "check_labels",
    "check_name",
    "overlap",
    "refuse_second",
]


@dataclass(frozen=True)
class SubsetFunction:
    """A preprocess function; `name` is what encoders call its samples where there are several, else None.

    `ratio` is the share of each of its subsets that is used. `unlabeled` functions return one response, not a list.
    """

    function: Callable[[], Any]
    name: str | None = None
    ratio: float = 1.0
    unlabeled: bool = False


@dataclass(frozen=True)
class Encoder:
    """An input or ground-truth encoder; `subset` limits it to the samples of one preprocess function.

    `exact` encoders were bound by a decorator and must return float32 arrays. `masked_input` names the input that a
    ground truth masks, as it was declared.
    """

    role: Role
    field: Field
    function: Callable[..., Any]
    subset: str | None = None
    exact: bool = False
    masked_input: str | None = None


@dataclass(frozen=True)
class MetadataFunction:
    """A metadata function; `subset` limits it to the samples of one preprocess function."""

    field: MetadataField
    function: Callable[..., Any]
    subset: str | None = None


@dataclass(frozen=True)
class CustomLayer:
    """A class that a model file needs, as it was declared."""

    name: str
    layer: type
    inspect_layer: bool = False
    kernel_index: int | None = None
    use_custom_latent_space: bool = False


def check_name(kind: str, name: Any) -> str:
    """Return a name that columns and messages can carry."""
    if not isinstance(name, str) or not name.strip():
        raise BindingError(f"The name of {kind} must be a text that is not empty, but got {name!r}.")
    return name


def check_channel_dim(kind: str, name: str, channel_dim: Any) -> int:
    """Return the axis of the channels: -1 for the last, otherwise counted from 1."""
    if isinstance(channel_dim, bool) or not isinstance(channel_dim, int) or (channel_dim != -1 and channel_dim < 1):
        raise BindingError(
            f"`channel_dim` of {kind} {name!r} must be -1 for the last axis, or 1 or more, but got {channel_dim!r}."
        )
    return channel_dim


def check_labels(kind: str, name: str, labels: Any) -> tuple[str, ...]:
    """Return the names of classes as texts, each there once."""
    if labels is None:
        return ()
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise BindingError(f"`labels` of {kind} {name!r} must be a list of class names, but got {labels!r}.")
    listed = tuple(str(label) for label in labels)
    twice = next((label for i, label in enumerate(listed) if label in listed[:i]), None)
    if twice is not None:
        raise BindingError(f"`labels` of {kind} {name!r} has {twice!r} twice.", hint="Each class has one name.")
    return listed


def refuse_second(kind: str, name: str, known: Iterable[str]) -> None:
    """Raise where the name is taken."""
    if name in known:
        raise BindingError(f"{kind} {name!r} is bound twice.", hint="Give the second one another name.")


def overlap(one: str | None, other: str | None) -> bool:
    """Whether two functions can concern the same sample; None is every subset."""
    return one is None or other is None or one == other


def check_direction(
    name: str, direction: MetricDirection | Mapping[str, MetricDirection] | None
) -> MetricDirection | Mapping[str, MetricDirection] | None:
    """Return which way a metric is better, or that by key of its dictionary."""
    if direction is None:
        return None
    given = list(direction.values()) if isinstance(direction, Mapping) else [direction]
    wrong = [one for one in given if one not in list(MetricDirection)]
    if wrong:
        raise BindingError(f"`direction` of metric {name!r} must be a MetricDirection, but got {wrong[0]!r}.")
    if isinstance(direction, Mapping):
        return {key: MetricDirection(one) for key, one in direction.items()}
    return MetricDirection(direction)
