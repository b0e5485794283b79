"""Whether an encoded sample fits an input of a model, and where its channels have to go. Moves nothing by itself.

Declarations decide, never the shapes alone: the encoder's `channel_dim` against the input's `channel_axis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from cutaway.errors import BindingError
from cutaway.models import TensorSpec

__all__ = ["Fit", "Move", "channels_of", "fit_sample", "matches", "spec_as_given"]

Shape = tuple[int, ...]
Move = Literal["", "first", "last"]
Side = Literal["first", "last"]

# Rows, columns and channels; a sample with fewer axes has no channels to move.
IMAGE_RANK = 3


class Fit(NamedTuple):
    """Where the channels of a batch go, and in words why; an empty `move` leaves them."""

    move: Move
    note: str = ""


def matches(shape: Sequence[int | None], wanted: Sequence[int | None]) -> bool:
    """Whether a sample has the shape that is wanted, where None is any size.

    >>> matches((28, 28, 1), (None, 28, 1)), matches((28, 28), (28, 28, 1))
    (True, False)
    """
    return len(shape) == len(wanted) and all(b is None or a == b for a, b in zip(shape, wanted, strict=True))


def channels_of(axis: int | None, rank: int) -> Side | None:
    """Say on which side an axis lies, counted with the batch axis, in samples of a rank; None where on neither.

    >>> channels_of(-1, 3), channels_of(1, 3), channels_of(3, 3), channels_of(2, 3)
    ('last', 'first', 'last', None)
    """
    if axis is None or rank < IMAGE_RANK:
        return None
    if axis in (-1, rank):
        return "last"
    # An axis counted without the batch is 0 where the channels come first.
    return "first" if axis in (0, 1) else None


def spec_as_given(spec: TensorSpec, *, channels_last: bool | None) -> TensorSpec:
    """Return an input as batches are given to a model that was loaded with `channels_last`."""
    side = channels_of(spec.channel_axis, len(spec.shape) - 1)
    if channels_last is None or side is None or (side == "last") == channels_last:
        return spec
    sample = _moved(spec.shape[1:], "last" if channels_last else "first")
    return replace(spec, shape=(*spec.shape[:1], *sample), channel_axis=-1 if channels_last else 1)


def fit_sample(encoder: str, shape: Shape, channel_dim: int, spec: TensorSpec) -> Fit:
    """Decide how samples of an encoder go into an input. Raises `BindingError` where they cannot."""
    if not spec.shape:
        return Fit("")  # the model does not say what it takes
    wanted = spec.shape[1:]
    given, taken = channels_of(channel_dim, len(shape)), channels_of(spec.channel_axis, len(shape))
    as_is = matches(shape, wanted)
    if given is None or taken is None or given == taken:
        if as_is:
            return Fit("")
        raise BindingError(_misfit(encoder, shape, spec))
    turned = matches(_moved(shape, taken), wanted)
    if turned:
        why = f"`channel_dim={channel_dim}` has them {given}, and the model takes them {taken}"
        return Fit(taken, f"its channels are moved from the {given} axis to the {taken}: {why}")
    if as_is:
        return Fit("", f"its shape fits as it is, although `channel_dim={channel_dim}` says that channels come {given}")
    raise BindingError(_misfit(encoder, shape, spec))


def _moved(shape: Sequence[int | None], side: Side) -> tuple[int | None, ...]:
    """Return a shape with its channels moved to a side from the other."""
    return (shape[-1], *shape[:-1]) if side == "first" else (*shape[1:], shape[0])


def _misfit(encoder: str, shape: Shape, spec: TensorSpec) -> str:
    wanted = ", ".join("any" if size is None else str(size) for size in spec.shape[1:])
    wanted += "," if len(spec.shape) == 2 else ""
    message = (
        f"Input {spec.name!r} of the model takes samples of shape ({wanted}), but encoder {encoder!r} gives {shape}."
    )
    if shape[:1] == (1,) and matches(shape[1:], spec.shape[1:]):
        return f"{message} An encoder returns one sample, without the axis of a batch."
    if len(shape) < IMAGE_RANK:
        return message
    ways: tuple[tuple[Side, int, str], ...] = (("first", -1, "last"), ("last", 1, "first"))
    for side, axis, words in ways:
        if matches(_moved(shape, side), spec.shape[1:]):
            if channels_of(spec.channel_axis, len(shape)) is None:
                return f"{message} It would fit with its channels {side}: return them so from the encoder."
            return (
                f"{message} It would fit with its channels moved: declare that they come {words}, "
                f"with `channel_dim={axis}` of the encoder."
            )
    return message
