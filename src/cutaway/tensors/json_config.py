"""Reads a hook's configuration from JSON, in the form that users of SageMaker Debugger have.

Values may be strings, as SageMaker writes them ("true", "10", "a,b"). Reads no environment variable and makes no
hook: the caller finds the file (`CONFIG_VARIABLES`) and decides what to do with the values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from cutaway.errors import ConfigurationError
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reduction_config import ReductionConfig
from cutaway.tensors.save_config import SaveConfig, SaveConfigMode
from cutaway.tensors.settings import compile_pattern, refuse_unknown

__all__ = ["CONFIG_VARIABLES", "CollectionConfig", "HookConfig"]

# Environment variables that may name the file; ours comes first.
CONFIG_VARIABLES = ("CUTAWAY_CONFIG_FILE", "SMDEBUG_CONFIG_FILE_PATH")

_SCHEDULE = ("save_interval", "start_step", "end_step", "save_steps")
_MODED = tuple(f"{mode.name.lower()}.{name}" for mode in ModeKeys for name in _SCHEDULE)
_REDUCTION = ("reductions", "save_raw_tensor", "save_shape")
_COLLECTION_KEYS = ("include_regex", "save_histogram", *_REDUCTION, *_SCHEDULE, *_MODED)
_HOOK_KEYS = (
    *("save_all", "include_regex", "include_workers", "export_tensorboard", "tensorboard_dir"),
    *(*_REDUCTION, *_SCHEDULE, *_MODED),
)
_TOP_KEYS = ("LocalPath", "HookParameters", "CollectionConfigurations")

Parameters = Mapping[str, object]


@dataclass(frozen=True)
class CollectionConfig:
    """What the file says of one collection; None where it leaves the matter to the hook."""

    include_regex: tuple[str, ...] = ()
    save_config: SaveConfig | None = None
    reduction_config: ReductionConfig | None = None
    save_histogram: bool | None = None


@dataclass(frozen=True)
class HookConfig:
    """What the file says of a hook; None where it says nothing. Every collection in it is to be included."""

    out_dir: str | None = None
    save_all: bool = False
    include_regex: tuple[str, ...] = ()
    include_workers: str = "one"
    save_config: SaveConfig | None = None
    reduction_config: ReductionConfig | None = None
    export_tensorboard: bool = False
    tensorboard_dir: str | None = None
    collections: Mapping[str, CollectionConfig] = field(default_factory=dict)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> HookConfig:
        """Read a JSON file; what is wrong in it is said with the file's name."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(
                f"The configuration {str(path)!r} cannot be read: {error.strerror}.", path=path
            ) from error
        try:
            return cls.parse(json.loads(text))
        except json.JSONDecodeError as error:
            raise ConfigurationError(f"{str(path)!r} is not JSON: {error}.", path=path) from error
        except ConfigurationError as error:
            raise ConfigurationError(f"In {str(path)!r}: {error}", path=path) from error

    @classmethod
    def parse(cls, document: object) -> HookConfig:
        """Read the values of the JSON.

        >>> config = HookConfig.parse({"LocalPath": "runs/a", "HookParameters": {"train.save_interval": "10"}})
        >>> config.save_config.should_save_step(ModeKeys.TRAIN, 10)
        True
        """
        document = _object("the configuration", document)
        # S3OutputPath stands in SageMaker's own files, beside the local path that is meant here.
        refuse_unknown(document, (*_TOP_KEYS, "S3OutputPath"), "The configuration")
        hook = _object("HookParameters", document.get("HookParameters"))
        refuse_unknown(hook, _HOOK_KEYS, "`HookParameters`")
        out_dir, tensorboard_dir = document.get("LocalPath"), hook.get("tensorboard_dir")
        if out_dir is None and "S3OutputPath" in document:
            raise ConfigurationError("`S3OutputPath` is not written to.", hint="Give the run's folder as `LocalPath`.")
        return cls(
            out_dir=None if out_dir is None else str(out_dir),
            save_all=_flag("save_all", hook.get("save_all"), default=False),
            include_regex=_patterns(hook.get("include_regex")),
            include_workers=_workers(hook.get("include_workers")),
            save_config=_save_config(hook, {}),
            reduction_config=_reduction_config(hook),
            export_tensorboard=_flag("export_tensorboard", hook.get("export_tensorboard"), default=False),
            tensorboard_dir=None if tensorboard_dir is None else str(tensorboard_dir),
            collections=_collections(document.get("CollectionConfigurations"), hook),
        )


def _collections(value: object, hook: Parameters) -> dict[str, CollectionConfig]:
    if value is None:
        return {}
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ConfigurationError(f"`CollectionConfigurations` must be a list of objects, but got {value!r}.")
    found: dict[str, CollectionConfig] = {}
    for item in value:
        entry = _object("an item of CollectionConfigurations", item)
        refuse_unknown(entry, ("CollectionName", "CollectionParameters"), "An item of `CollectionConfigurations`")
        name = entry.get("CollectionName")
        if not isinstance(name, str) or not name:
            raise ConfigurationError(f"An item of `CollectionConfigurations` has no `CollectionName`: {item!r}.")
        if name in found:
            raise ConfigurationError(f"`CollectionConfigurations` has collection {name!r} twice.")
        parameters = _object(f"CollectionParameters of {name!r}", entry.get("CollectionParameters"))
        refuse_unknown(parameters, _COLLECTION_KEYS, f"Collection {name!r}")
        histogram = parameters.get("save_histogram")
        found[name] = CollectionConfig(
            include_regex=_patterns(parameters.get("include_regex")),
            save_config=_save_config(parameters, hook),
            reduction_config=_reduction_config(parameters),
            save_histogram=None if histogram is None else _flag("save_histogram", histogram, default=True),
        )
    return found


def _save_config(own: Parameters, inherited: Parameters) -> SaveConfig | None:
    """Return the schedule of each mode, or None where nothing is said.

    The more particular word wins: a collection's over the hook's, and within either a mode's over the one for all.
    """
    if not any(name in own for name in (*_SCHEDULE, *_MODED)):
        return None
    schedules = {}
    for mode in ModeKeys:
        said: dict[str, object] = {}
        for parameters in (inherited, own):
            said |= {name: parameters[name] for name in _SCHEDULE if name in parameters}
            prefix = f"{mode.name.lower()}."
            said |= {name: parameters[prefix + name] for name in _SCHEDULE if prefix + name in parameters}
        schedules[mode] = _schedule(said)
    return SaveConfig(schedules)


def _schedule(said: Mapping[str, object]) -> SaveConfigMode:
    values: dict[str, object] = {}
    for name, value in said.items():
        if name == "save_steps":
            values[name] = [_whole_number(name, step) for step in _items(value)]
        elif value is not None and value != "":
            values[name] = _whole_number(name, value)
    return SaveConfigMode.parse(values)


def _reduction_config(parameters: Parameters) -> ReductionConfig | None:
    if not any(name in parameters for name in _REDUCTION):
        return None
    return ReductionConfig.of_words(
        _items(parameters.get("reductions")),
        save_raw_tensor=_flag("save_raw_tensor", parameters.get("save_raw_tensor"), default=False),
        save_shape=_flag("save_shape", parameters.get("save_shape"), default=False),
    )


def _object(what: str, value: object) -> Parameters:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"`{what}` must be a JSON object, but got {value!r}.")
    return value


def _items(value: object) -> list[str]:
    """Return a list, or the parts of a text with commas."""
    if value is None:
        return []
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, Sequence) else [value]
    return [text for text in (str(part).strip() for part in parts) if text]


def _patterns(value: object) -> tuple[str, ...]:
    patterns = tuple(_items(value))
    for pattern in patterns:
        compile_pattern(pattern, "include_regex")
    return patterns


def _whole_number(name: str, value: object) -> int:
    try:
        return int(str(value))
    except ValueError as error:
        raise ConfigurationError(f"`{name}` must be a whole number, but got {name}={value!r}.") from error


def _flag(name: str, value: object, *, default: bool) -> bool:
    if value is None:
        return default
    word = str(value).strip().lower()
    if word not in ("true", "false", "1", "0", "yes", "no"):
        raise ConfigurationError(f"`{name}` must be true or false, but got {name}={value!r}.")
    return word in ("true", "1", "yes")


def _workers(value: object) -> str:
    word = "one" if value is None else str(value).strip().lower()
    if word not in ("one", "all"):
        raise ConfigurationError(f"`include_workers` must be 'one' or 'all', but got include_workers={value!r}.")
    return word
