"""What visualizer classes check of their values. Each failure states the invariant and the values that break it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cutaway.arrays import Array
from cutaway.errors import ConfigurationError

__all__ = [
    "check_array",
    "check_drawable",
    "check_finite",
    "check_image",
    "check_indices",
    "check_length",
    "check_texts",
    "require",
]


def require(holds: object, invariant: str, got: str, hint: str = "") -> None:
    """Raise unless an invariant holds.

    >>> require(2 > 1, "`a > b` must hold", "a=1, b=2")
    """
    if not holds:
        raise ConfigurationError(f"{invariant}, but got {got}.{hint and ' '}{hint}")


def check_array(owner: str, name: str, value: object, ranks: Sequence[int], kinds: str) -> Array:
    """Return the value as the array that it must be: of one of some ranks, and of one of numpy's kinds of dtype."""
    if not isinstance(value, np.ndarray):
        raise ConfigurationError(
            f"`{name}` of {owner} must be a numpy array, but got {type(value).__module__}.{type(value).__qualname__}."
        )
    wanted = " or ".join(str(rank) for rank in ranks)
    require(value.ndim in ranks, f"`{name}` of {owner} must have {wanted} axes", f"shape {value.shape}")
    require(value.size > 0, f"`{name}` of {owner} must not be empty", f"shape {value.shape}")
    _check_dtype(owner, name, value, kinds)
    return value


def check_image(owner: str, name: str, value: object, rank: int = 3) -> Array:
    """Return the value as the image that it must be: [H, W, C], or [T, H, W, C], C being 1 or 3; uint8 or float."""
    image = check_array(owner, name, value, (rank,), "image")
    axes = "[H, W, C]" if rank == 3 else "[T, H, W, C]"
    require(
        image.shape[-1] in (1, 3),
        f"`{name}` of {owner} must be {axes} with 1 or 3 channels",
        f"shape {image.shape}",
        "Channels come last: use `np.moveaxis(image, 0, -1)`." if image.shape[0] in (1, 3) else "",
    )
    check_finite(owner, name, image)
    return image


def check_finite(owner: str, name: str, values: Array) -> None:
    """Raise where a value is NaN or infinite, saying how many are."""
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum(dtype=np.float64)
    # The sum is finite only where all are, at a fraction of the cost of looking at each; where it is not, look.
    if np.isfinite(total):
        return
    wrong = int(np.count_nonzero(~np.isfinite(values)))
    require(wrong == 0, f"`{name}` of {owner} must be finite", f"{wrong} of {values.size} values NaN or infinite")


def check_drawable(owner: str, name: str, values: Array) -> None:
    """Raise where a number is so large that the length of an axis with it could not be told; NaN is let through."""
    largest = float(np.fmax.reduce(np.abs(values), axis=None))
    require(not largest > 1e300, f"`{name}` of {owner} must be finite and at most 1e300 in size", f"{largest:g}")


def check_length(owner: str, left: str, size: int, right: str, other: int) -> None:
    """Raise unless two sizes are equal."""
    require(size == other, f"{owner} needs as many {left} as {right}", f"{size} {left} and {other} {right}")


def check_texts(owner: str, name: str, values: object) -> None:
    """Raise unless the value is a list or tuple of texts."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ConfigurationError(f"`{name}` of {owner} must be a list of texts, but got {type(values).__qualname__}.")
    wrong = next(((index, text) for index, text in enumerate(values) if not isinstance(text, str)), None)
    if wrong is not None:
        raise ConfigurationError(
            f"`{name}` of {owner} must be texts, but number {wrong[0]} is {type(wrong[1]).__qualname__}: {wrong[1]!r}."
        )


def check_indices(owner: str, name: str, values: Array, labels: int) -> None:
    """Raise unless every value is the index of a label."""
    highest = int(values.max())
    require(
        highest < labels,
        f"`{name}` of {owner} must hold indices of its labels, 0 to {labels - 1}",
        f"the value {highest}",
    )


def _check_dtype(owner: str, name: str, value: Array, kinds: str) -> None:
    words = {
        "image": ("uint8 or float", value.dtype == np.uint8 or value.dtype.kind == "f", "float32"),
        "float": ("float", value.dtype.kind == "f", "float32"),
        "mask": ("uint8", value.dtype == np.uint8, "uint8"),
        "audio": ("int16 or float", value.dtype == np.int16 or value.dtype.kind == "f", "float32"),
    }
    wanted, fits, cast = words[kinds]
    require(
        fits, f"`{name}` of {owner} must be {wanted}", f"{value.dtype}", f"Use `{name}.astype(np.{cast})` if that fits."
    )
