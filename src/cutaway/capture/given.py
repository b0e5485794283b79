"""What users hand to a hook, made plain: subsets, sample ids, numbers, configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.tensors.collection import Collection
from cutaway.tensors.json_config import HookConfig

__all__ = ["SUBSETS", "check_subset", "hook_arguments", "number", "plain", "sample_id"]

SUBSETS = ("training", "validation", "test", "unlabeled")


def check_subset(subset: str) -> None:
    """Refuse what is no subset of a data set."""
    if subset not in SUBSETS:
        hint = did_you_mean(str(subset), SUBSETS)
        message = f"`subset` must be one of {', '.join(map(repr, SUBSETS))}, but got {subset!r}."
        raise ConfigurationError(message, hint=hint)


def sample_id(one: object, subset: str) -> str | None:
    """Return `<subset>/<id>`; an id that already begins with a subset is taken as it is."""
    if one is None:
        return None
    # Numbers of numpy and of frameworks print as numbers, and keys that come as bytes as their text.
    bare = one.item() if getattr(one, "shape", None) == () and hasattr(one, "item") else one
    text = bare.decode(errors="replace") if isinstance(bare, bytes) else str(bare)
    return text if text.split("/", 1)[0] in SUBSETS and "/" in text else f"{subset}/{text}"


def number(name: str, value: Any) -> float:
    """Return a value of any framework as a plain number."""
    try:
        # Frameworks warn when a number that knows its gradient becomes a plain one.
        return float(value.detach() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError):
        message = f"`save_scalar` takes a single number, but got {name}={value!r}."
        raise ConfigurationError(message) from None


def plain(value: Any) -> Any:
    """Reduce a configuration to what YAML can hold; anything else becomes its text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def hook_arguments(config: HookConfig, collections: Callable[[str], Collection]) -> dict[str, Any]:
    """Turn a parsed JSON configuration into a hook's arguments, configuring the collections that it names."""
    for name, one in config.collections.items():
        found = collections(name)
        if one.include_regex:
            found.include(one.include_regex)
        if one.save_config is not None:
            found.save_config = one.save_config
        if one.reduction_config is not None:
            found.reduction_config = one.reduction_config
    return {
        "out_dir": config.out_dir,
        "include_collections": list(config.collections) or None,
        "include_regex": config.include_regex or None,
        "save_config": config.save_config,
        "reduction_config": config.reduction_config,
        "save_all": config.save_all,
        "include_workers": config.include_workers,
        "export_tensorboard": config.export_tensorboard,
        "tensorboard_dir": config.tensorboard_dir,
    }
