"""The settings of a hook: a frozen value that checks itself before anything is opened or attached.

Beside it what the environment says: whether hooks are on, and how loud the `cutaway` loggers are.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cutaway.capture.budget import DEFAULT_BUDGET
from cutaway.capture.observing import Observer, observers_of
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.tensors.reduction_config import ReductionConfig, ReductionConfigLike
from cutaway.tensors.save_config import SaveConfig, SaveConfigLike
from cutaway.tensors.settings import compile_pattern, texts

__all__ = ["HookSettings", "apply_log_level", "is_switched_off"]

_VARIABLES = ("CUTAWAY_LOG_LEVEL", "TORNASOLE_LOG_LEVEL", "SMDEBUG_LOG_LEVEL")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "OFF")

_OFF = ("0", "off", "false", "no")


def apply_log_level(environment: Mapping[str, str] = os.environ) -> None:
    """Set the level of the logger `cutaway` from the environment, or from the seed's logger `tornasole`.

    Adds no handler and changes no other logger.
    """
    logger = logging.getLogger("cutaway")
    for variable in _VARIABLES:
        text = environment.get(variable, "").strip().upper()
        if text and text not in _LEVELS:
            message = f"{variable} must be one of {', '.join(_LEVELS)}, but got {text!r}."
            raise ConfigurationError(message, hint=did_you_mean(text, _LEVELS))
        if text:
            logger.setLevel(logging.CRITICAL + 1 if text == "OFF" else text)
            return
    seeds = logging.getLogger("tornasole").level
    if seeds != logging.NOTSET:
        logger.setLevel(seeds)


def is_switched_off(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment turns every hook of this process off: `CUTAWAY=off`, or upstream's `USE_SMDEBUG=0`."""
    return any(environment.get(name, "").strip().lower() in _OFF for name in ("CUTAWAY", "USE_SMDEBUG"))


@dataclass(frozen=True, kw_only=True)
class HookSettings:
    """What a hook was asked to do."""

    out_dir: str | os.PathLike[str] | None = None
    name: str = ""
    include_collections: Iterable[str] | None = None
    include_regex: str | Iterable[str] | None = None
    save_config: SaveConfigLike = None
    reduction_config: ReductionConfigLike | None = None
    save_all: bool = False
    export_tensorboard: bool = False
    tensorboard_dir: str | os.PathLike[str] | None = None
    include_workers: str = "one"
    dry_run: bool = False
    resume: bool = False
    from_step: int | None = None
    statistics_every: int = 1
    channel_activity: str | Iterable[str] | None = None
    rules: Iterable[Observer | str] = ()
    disk_budget: int = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        if self.include_workers not in ("one", "all"):
            hint = did_you_mean(str(self.include_workers), ("one", "all"))
            message = f"`include_workers` must be 'one' or 'all', but got {self.include_workers!r}."
            raise ConfigurationError(message, hint=hint)
        _check_whole("statistics_every", self.statistics_every, ">= 0")
        _check_whole("disk_budget", self.disk_budget, "> 0")
        self._check_paths()
        self._check_resume()
        if self.include_collections is not None and not isinstance(self.include_collections, str):
            # A generator can be read only once.
            object.__setattr__(self, "include_collections", tuple(self.include_collections))
        for name in ("include_regex", "channel_activity"):
            patterns = texts(getattr(self, name), name) if getattr(self, name) is not None else ()
            for pattern in patterns:
                compile_pattern(pattern, name)
            object.__setattr__(self, name, tuple(patterns))
        object.__setattr__(self, "rules", observers_of(self.rules))
        object.__setattr__(self, "save_config", SaveConfig.parse(self.save_config))
        if self.reduction_config is not None:
            object.__setattr__(self, "reduction_config", ReductionConfig.parse(self.reduction_config))

    def _check_paths(self) -> None:
        _check_text("name", self.name)
        for name in ("out_dir", "tensorboard_dir"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, (str, os.PathLike)) or not str(value)):
                message = f"`{name}` must be the path of a folder, but got {name}={value!r}."
                raise ConfigurationError(message)
            if "://" in str(value):
                message = f"`{name}` must be a local path for now, but got {str(value)!r}."
                raise ConfigurationError(message)
            if value is not None:
                # A loop that changes its folder must not take the run along.
                object.__setattr__(self, name, Path(value).expanduser().absolute())
        if self.tensorboard_dir is not None and Path(self.tensorboard_dir).is_file():
            message = f"`tensorboard_dir` must be a folder, but {str(self.tensorboard_dir)!r} is a file."
            raise ConfigurationError(message)

    def _check_resume(self) -> None:
        if self.resume and self.out_dir is None:
            message = "`resume=True` needs the `out_dir` of the run to continue."
            raise ConfigurationError(message, hint="`cutaway runs list` shows them.")
        if self.from_step is not None:
            _check_whole("from_step", self.from_step, ">= 0")
            if not self.resume:
                message = f"`from_step` belongs to `resume=True`, but got from_step={self.from_step} without it."
                raise ConfigurationError(message)

    @property
    def folder(self) -> Path | None:
        """The run folder that was asked for, or None for one of our own choice."""
        return None if self.out_dir is None else Path(self.out_dir)


def _check_whole(name: str, value: object, rule: str) -> None:
    """Refuse what is no whole number, or one that breaks the rule `>= 0` or `> 0`."""
    if not isinstance(value, int) or isinstance(value, bool):
        message = f"`{name}` must be a whole number, but got {name}={value!r}."
        raise ConfigurationError(message)
    if value < 0 or (value == 0 and rule == "> 0"):
        message = f"`{name} {rule}` must hold, but got {name}={value}."
        raise ConfigurationError(message)


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        message = f"`{name}` must be a text, but got {name}={value!r}."
        raise ConfigurationError(message)
