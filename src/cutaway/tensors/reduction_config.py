"""Which reductions of a tensor are kept instead of the tensor itself. Computes none of them: statistics.py does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.tensors.settings import JsonSettings, refuse_unknown, texts

__all__ = ["NORMS", "REDUCTIONS", "ReductionConfig", "ReductionConfigLike", "parse_reduction", "reduction_key"]

REDUCTIONS = ("min", "max", "mean", "std", "variance", "sum", "prod", "median")
NORMS = ("l1", "l2")
_ABS = "abs_"


def reduction_key(name: str, *, abs: bool = False) -> str:
    """Return the one word that a reduction is stored under, such as `abs_max` or `l2`."""
    return f"{_ABS}{name}" if abs else name


def parse_reduction(text: str) -> tuple[str, bool]:
    """Split a word such as `abs_max`, `l1` or `abs_l2_norm` into the reduction and whether it is of absolute values.

    >>> parse_reduction("abs_l2_norm")
    ('l2', True)
    """
    word = text.strip().lower()
    absolute = word.startswith(_ABS)
    name = word.removeprefix(_ABS)
    # Upstream's documentation writes l1, its code wants l1_norm; both are read.
    name = name.removesuffix("_norm") if name.removesuffix("_norm") in NORMS else name
    if name not in REDUCTIONS + NORMS:
        known = [f"{prefix}{known}" for prefix in ("", _ABS) for known in REDUCTIONS + NORMS]
        raise ConfigurationError(
            f"No reduction {text!r}: the reductions are {', '.join(REDUCTIONS + NORMS)}, each also with 'abs_' before "
            "it.",
            hint=did_you_mean(word, known),
        )
    return name, absolute


@dataclass(frozen=True)
class ReductionConfig(JsonSettings):
    """What is kept of a tensor at a saved step.

    Standard deviation and variance divide by the number of values; norms are those of the flattened tensor.
    The tensor itself is dropped unless `save_raw_tensor`; `save_shape` keeps its shape beside.

    >>> ReductionConfig(reductions=["min", "max"], norms=["l1"]).wanted()
    (('min', False), ('max', False), ('l1', False))
    >>> ReductionConfig.parse("mean,abs_max,l1_norm").wanted()
    (('mean', False), ('max', True), ('l1', False))
    """

    _what: ClassVar[str] = "reduction configuration"

    reductions: str | Iterable[str] | None = None
    abs_reductions: str | Iterable[str] | None = None
    norms: str | Iterable[str] | None = None
    abs_norms: str | Iterable[str] | None = None
    save_raw_tensor: bool = False
    save_shape: bool = False

    def __post_init__(self) -> None:
        for name, known in (
            ("reductions", REDUCTIONS),
            ("abs_reductions", REDUCTIONS),
            ("norms", NORMS),
            ("abs_norms", NORMS),
        ):
            object.__setattr__(self, name, _reduction_names(name, getattr(self, name), known))
        for name in ("save_raw_tensor", "save_shape"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigurationError(f"`{name}` must be True or False, but got {name}={getattr(self, name)!r}.")

    def wanted(self) -> tuple[tuple[str, bool], ...]:
        """Return every (reduction, of absolute values) asked for, in the order of the fields."""
        return (
            *((name, False) for name in self.reductions or ()),
            *((name, True) for name in self.abs_reductions or ()),
            *((name, False) for name in self.norms or ()),
            *((name, True) for name in self.abs_norms or ()),
        )

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON values; `parse` reads them back."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    @classmethod
    def parse(cls, value: ReductionConfigLike) -> ReductionConfig:
        """Return a ReductionConfig from itself, the string form, or a dictionary of its arguments."""
        if isinstance(value, ReductionConfig):
            return value
        if isinstance(value, str):
            return cls.of_words(value.split(","))
        if not isinstance(value, Mapping):
            raise ConfigurationError(
                f"`reduction_config` takes a `ReductionConfig` or a string such as 'mean,abs_max', but got {value!r}."
            )
        refuse_unknown(value, [field.name for field in fields(cls)], "`ReductionConfig`")
        return cls(**value)  # type: ignore[arg-type]  # each value is checked by __post_init__

    @classmethod
    def of_words(
        cls, words: Iterable[str], *, save_raw_tensor: bool = False, save_shape: bool = False
    ) -> ReductionConfig:
        """Return the configuration that asks for each word, such as `mean`, `abs_max` or `l1_norm`."""
        found = [parse_reduction(word) for word in words if word.strip()]
        return cls(
            reductions=[name for name, absolute in found if name in REDUCTIONS and not absolute],
            abs_reductions=[name for name, absolute in found if name in REDUCTIONS and absolute],
            norms=[name for name, absolute in found if name in NORMS and not absolute],
            abs_norms=[name for name, absolute in found if name in NORMS and absolute],
            save_raw_tensor=save_raw_tensor,
            save_shape=save_shape,
        )


ReductionConfigLike = ReductionConfig | str | Mapping[str, object]


def _reduction_names(argument: str, value: str | Iterable[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else texts(value, argument)
    found: dict[str, None] = {}
    for word in words:
        if not word.strip():
            continue
        name = word.strip().lower()
        name = name.removesuffix("_norm") if name.removesuffix("_norm") in known else name
        if name not in known:
            raise ConfigurationError(
                f"`{argument}` must be among {', '.join(known)}, but got {word!r}.{_other_place(argument, name)}"
                f"{did_you_mean(name, known)}"
            )
        found[name] = None
    return tuple(found)


def _other_place(argument: str, name: str) -> str:
    """Name the argument that a word given to the wrong one belongs to."""
    absolute = argument.startswith(_ABS) or name.startswith(_ABS)
    bare = name.removeprefix(_ABS).removesuffix("_norm")
    for kind, known in (("norms", NORMS), ("reductions", REDUCTIONS)):
        if bare in known:
            return f" Write `{_ABS if absolute else ''}{kind}=[{bare!r}]`."
    return ""
