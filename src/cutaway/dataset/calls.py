"""The two styles of the binder's calls: with the name of a subset and a type, and without. The arguments decide."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from cutaway.dataset.declarations import Encoder, MetadataFunction, check_channel_dim, check_labels, check_name
from cutaway.dataset.enums import DatasetInputType, DatasetMetadataType, DatasetOutputType, Role
from cutaway.dataset.functions import Field, MetadataField
from cutaway.errors import BindingError, did_you_mean

__all__ = [
    "MISSING",
    "MetadataTypes",
    "check_metadata_type",
    "read_ground_truth",
    "read_input",
    "read_metadata",
]

MetadataTypes = DatasetMetadataType | Mapping[str, DatasetMetadataType] | None
Given = Mapping[str, Any]

# What a keyword argument is that nobody gave; None is an argument like any other.
MISSING: Any = ...  # the reference shows it as a default, and nobody gives it


def read_input(positional: Sequence[Any], named: Given) -> Encoder:
    """Return the input that a call of `set_input` describes."""
    call = _match("set_input", (_input, _input_of_subset), positional, named)
    name = check_name("an input", call["name"])
    field = Field(
        name,
        channel_dim=check_channel_dim("input", name, call.get("channel_dim", -1)),
        type=_word(DatasetInputType, "input_type", call.get("input_type")),
    )
    return Encoder(Role.INPUT, field, call["function"], call.get("subset"))


def read_ground_truth(positional: Sequence[Any], named: Given) -> Encoder:
    """Return the ground truth that a call of `set_ground_truth` describes."""
    call = _match("set_ground_truth", (_ground_truth, _ground_truth_of_subset), positional, named)
    name = check_name("a ground truth", call["name"])
    field = Field(
        name,
        check_labels("ground truth", name, call.get("labels")),
        type=_word(DatasetOutputType, "ground_truth_type", call.get("ground_truth_type")),
    )
    masked = call.get("masked_input")
    return Encoder(Role.GROUND_TRUTH, field, call["function"], call.get("subset"), masked_input=masked)


def read_metadata(positional: Sequence[Any], named: Given) -> MetadataFunction:
    """Return the metadata function that a call of `set_metadata` describes."""
    call = _match("set_metadata", (_metadata, _metadata_of_subset), positional, named)
    name = check_name("metadata", call["name"])
    field = MetadataField(name, check_metadata_type(name, call["metadata_type"]))
    return MetadataFunction(field, call["function"], call.get("subset"))


def check_metadata_type(name: str, given: Any) -> MetadataTypes:
    """Return the declared type of a metadata function, or those of its keys."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {
            key: DatasetMetadataType(_word(DatasetMetadataType, f"{name}.{key}", one)) for key, one in given.items()
        }
    return DatasetMetadataType(_word(DatasetMetadataType, "metadata_type", given))


def _match(call: str, styles: Sequence[Callable[..., None]], positional: Sequence[Any], named: Given) -> dict[str, Any]:
    """Return the arguments by name, as the first style has them that they fit."""
    given = {name: value for name, value in named.items() if value is not MISSING}
    for style in styles:
        try:
            bound = inspect.signature(style).bind(*positional, **given)
        except TypeError:
            continue
        bound.apply_defaults()
        return dict(bound.arguments)
    ways = " or ".join(f"`{call}({', '.join(inspect.signature(style).parameters)})`" for style in styles)
    shown = ", ".join([*(repr(one) for one in positional[1:]), *(f"{name}={value!r}" for name, value in given.items())])
    raise BindingError(f"`{call}` was given a function and ({shown}), but is called as {ways}.")


def _word(words: type[StrEnum], argument: str, given: Any) -> str:
    """Return a word of an enumeration; empty where none was given."""
    if given is None:
        return ""
    if given in list(words):
        return str(words(given).value)
    known = [f"{words.__name__}.{one.name}" for one in words]
    raise BindingError(
        f"`{argument}` is {given!r}.", hint=f"{did_you_mean(str(given), known)} There are {', '.join(known)}."
    )


# Each has the parameters of one style, and does nothing.
def _input(function: Any, name: str, channel_dim: int = -1) -> None: ...


def _input_of_subset(function: Any, subset: str, input_type: DatasetInputType, name: str) -> None: ...


def _ground_truth(function: Any, name: str) -> None: ...


def _ground_truth_of_subset(  # noqa: PLR0917  # the order of a call that exists
    function: Any,
    subset: str,
    ground_truth_type: DatasetOutputType,
    name: str,
    labels: Sequence[str] | None = None,
    masked_input: str | None = None,
) -> None: ...


def _metadata(function: Any, name: str, metadata_type: MetadataTypes = None) -> None: ...


def _metadata_of_subset(function: Any, subset: str, metadata_type: DatasetMetadataType, name: str) -> None: ...
