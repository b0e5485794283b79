"""What a binder was told, one value for each call. Checks names and arguments; calls nobody's function."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar, get_overloads

from cutaway.dataset.enums import Role
from cutaway.dataset.functions import Field, MetadataField
from cutaway.errors import BindingError, did_you_mean

__all__ = [
    "MISSING",
    "CustomLayer",
    "Encoder",
    "MetadataFunction",
    "SubsetFunction",
    "check_channel_dim",
    "check_components",
    "check_labels",
    "check_name",
    "check_word",
    "check_words",
    "matched",
    "overlap",
    "refuse_second",
]

log = logging.getLogger("cutaway.dataset")

WIDE_SPACE, LARGEST_SPACE = 1024, 4096

Word = TypeVar("Word", bound=StrEnum)

# What a keyword argument is that nobody gave; None is an argument like any other.
MISSING: Any = ...  # the reference shows it as a default, and nobody gives it


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


def check_components(name: str, count: Any) -> None:
    """Raise where a latent space would have too many components, or none."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= LARGEST_SPACE:
        raise BindingError(
            f"`1 <= n_components <= {LARGEST_SPACE}` must hold for latent space {name!r}, but got {count!r}."
        )
    if count > WIDE_SPACE:
        log.warning("Latent space %r has %d components; above %d a map takes long.", name, count, WIDE_SPACE)


def refuse_second(kind: str, name: str, known: Iterable[str]) -> None:
    """Raise where the name is taken."""
    if name in known:
        raise BindingError(f"{kind} {name!r} is bound twice.", hint="Give the second one another name.")


def overlap(one: str | None, other: str | None) -> bool:
    """Whether two functions can concern the same sample; None is every subset."""
    return one is None or other is None or one == other


def check_word(words: type[Word], what: str, given: Any) -> Word:
    """Return a word of an enumeration, or raise with those that there are."""
    if given in list(words):
        return words(given)
    known = [f"{words.__name__}.{one.name}" for one in words]
    raise BindingError(f"{what} is {given!r}.", hint=f"{did_you_mean(str(given), known)} There are {', '.join(known)}.")


def check_words(words: type[Word], what: str, given: Any) -> Word | Mapping[str, Word] | None:
    """Return a word, one by key of a dictionary, or None, as it was given."""
    if isinstance(given, Mapping):
        return {key: check_word(words, f"{what} for {key!r}", one) for key, one in given.items()}
    return None if given is None else check_word(words, what, given)


def matched(call: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call of the binder by name, as the first of its overloads has them that they fit.

    `positional` begins with the binder and the function; what is `MISSING` among `named` was not given.
    """
    given = {name: value for name, value in named.items() if value is not MISSING}
    styles = [inspect.signature(style) for style in get_overloads(call)]
    for style in styles:
        try:
            bound = style.bind(*positional, **given)
        except TypeError:
            continue
        bound.apply_defaults()
        return dict(bound.arguments)
    ways = " or ".join(f"`{call.__name__}({', '.join([*style.parameters][1:])})`" for style in styles)
    shown = ", ".join([*(repr(one) for one in positional[2:]), *(f"{name}={value!r}" for name, value in given.items())])
    raise BindingError(f"`{call.__name__}` was given a function and ({shown}), but is called as {ways}.")
