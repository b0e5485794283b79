"""A named group of tensors: which belong to it, when they are saved, and what is kept of them.

Does not know any framework. What users add as objects (a variable, a module) waits in `pending` until the hook, which
knows the names, resolves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cutaway.errors import ConfigurationError, InvalidCollectionConfiguration
from cutaway.tensors.reduction_config import ReductionConfig, ReductionConfigLike
from cutaway.tensors.save_config import SaveConfig, SaveConfigLike
from cutaway.tensors.settings import compile_pattern, texts

__all__ = ["Collection", "ModuleTensors"]

# Their tensors are single numbers: there is nothing to reduce and no histogram to draw.
_SCALAR = frozenset({"losses", "metrics", "sm_metrics"})


@dataclass(frozen=True)
class ModuleTensors:
    """A module whose inputs or outputs were added to a collection; the hook finds their names."""

    module: object
    inputs: bool
    outputs: bool


class Collection:
    r"""A group of tensors, chosen by regular expression, by name, or by the object itself.

    >>> relu = Collection("relu")
    >>> relu.include(r"relu\d*_output")
    >>> relu.save_config = SaveConfig(save_interval=10)
    >>> relu.matches("relu1_output_0"), relu.matches("fc1_output_0")
    (True, False)
    """

    def __init__(
        self,
        name: str,
        *,
        include_regex: str | Iterable[str] | None = None,
        save_config: SaveConfigLike = None,
        reduction_config: ReductionConfigLike | None = None,
        save_histogram: bool | None = None,
        builtin: bool = False,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"A collection's name must be a text that is not empty, but got {name!r}.")
        self.name = name
        self.builtin = builtin
        self.tensor_names: set[str] = set()
        self.pending: list[object] = []
        self.apart_from: Collection | None = None  # whose tensors no pattern of this one means
        self._patterns: list[re.Pattern[str]] = []
        self._matched: dict[str, bool] = {}
        self._save_histogram = save_histogram
        self.save_config = save_config
        self.reduction_config = reduction_config
        self.include(include_regex if include_regex is not None else ())

    def __repr__(self) -> str:
        return f"Collection({self.name!r}, include_regex={self.include_regex}, {len(self.tensor_names)} tensor names)"

    @property
    def scalar(self) -> bool:
        """Whether its tensors are single numbers, which are always kept as they are."""
        return self.name in _SCALAR

    @property
    def include_regex(self) -> list[str]:
        """The patterns so far, as a copy; `include` adds to them."""
        return [pattern.pattern for pattern in self._patterns]

    @property
    def save_config(self) -> SaveConfig | None:
        """When its tensors are saved; None leaves it to the hook."""
        return self._save_config

    @save_config.setter
    def save_config(self, value: SaveConfigLike) -> None:
        self._save_config = None if value is None else SaveConfig.parse(value)

    @property
    def reduction_config(self) -> ReductionConfig | None:
        """What is kept of its tensors; None leaves it to the hook."""
        return self._reduction_config

    @reduction_config.setter
    def reduction_config(self, value: ReductionConfigLike | None) -> None:
        self._reduction_config = None if value is None else ReductionConfig.parse(value)

    @property
    def save_histogram(self) -> bool:
        """Whether its tensors are exported as histograms; False where they are single numbers, unless it was set."""
        return not self.scalar if self._save_histogram is None else self._save_histogram

    @save_histogram.setter
    def save_histogram(self, value: bool) -> None:
        self._save_histogram = bool(value)

    def include(self, patterns: str | Iterable[str]) -> None:
        """Add the tensors whose name a regular expression finds anywhere (`re.search`)."""
        compiled = [compile_pattern(text, "include") for text in texts(patterns, "include")]
        known = set(self.include_regex)
        self._patterns.extend(pattern for pattern in compiled if pattern.pattern not in known)
        self._matched.clear()

    def add(self, item: object) -> None:
        """Add a tensor by its name, or as the object that holds it; a list, tuple or set adds each of its items."""
        if isinstance(item, str):
            self.tensor_names.add(item)
        elif isinstance(item, (list, tuple, set, frozenset)):
            for each in item:
                self.add(each)
        else:
            self.pending.append(item)

    # The flags may come by position because upstream's do.
    def add_module_tensors(self, module: object, inputs: bool = False, outputs: bool = True) -> None:  # noqa: FBT001, FBT002
        """Add what a module receives (`inputs`) or returns (`outputs`)."""
        if not inputs and not outputs:
            raise ConfigurationError("`inputs or outputs` must hold, but got inputs=False, outputs=False.")
        self.pending.append(ModuleTensors(module, inputs, outputs))

    def matches(self, tensor_name: str) -> bool:
        """Say whether a tensor belongs here, by its exact name or by a pattern."""
        if tensor_name in self.tensor_names:
            return True
        if self.apart_from is not None and self.apart_from.matches(tensor_name):
            return False
        matched = self._matched.get(tensor_name)
        if matched is None:
            matched = any(pattern.search(tensor_name) for pattern in self._patterns)
            self._matched[tensor_name] = matched
        return matched

    def check(self) -> None:
        """Refuse a custom collection that can never hold a tensor."""
        if not (self.builtin or self._patterns or self.tensor_names or self.pending):
            raise InvalidCollectionConfiguration(self.name)

    def to_dict(self) -> dict[str, object]:
        """Return what a run keeps of the collection, as JSON values; `from_dict` reads it back."""
        return {
            "include_regex": self.include_regex,
            "tensor_names": sorted(self.tensor_names),
            "save_config": None if self.save_config is None else self.save_config.to_dict(),
            "reduction_config": None if self.reduction_config is None else self.reduction_config.to_dict(),
            "save_histogram": self.save_histogram,
        }

    @classmethod
    def from_dict(cls, name: str, value: Mapping[str, object], *, builtin: bool = False) -> Collection:
        """Read what `to_dict` wrote."""
        known = {"include_regex", "save_config", "reduction_config", "save_histogram"}
        given = {key: item for key, item in value.items() if key in known}
        collection = cls(name, builtin=builtin, **given)  # type: ignore[arg-type]  # each value is checked there
        collection.tensor_names.update(texts(value.get("tensor_names"), "tensor_names"))  # type: ignore[arg-type]
        return collection
