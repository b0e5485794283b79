"""The settings of a hook: a frozen value that checks itself before anything is opened or attached."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cutaway.capture.budget import DEFAULT_BUDGET
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.tensors.patterns import compile_pattern, texts
from cutaway.tensors.reduction_config import ReductionConfig, ReductionConfigLike
from cutaway.tensors.save_config import SaveConfig, SaveConfigLike

__all__ = ["HookSettings", "is_switched_off"]

_OFF = ("0", "off", "false", "no")


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
    disk_budget: int = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        if self.include_workers not in ("one", "all"):
            hint = did_you_mean(str(self.include_workers), ("one", "all"))
            message = f"`include_workers` must be 'one' or 'all', but got {self.include_workers!r}.{hint}"
            raise ConfigurationError(message)
        if not isinstance(self.statistics_every, int) or self.statistics_every < 0:
            message = f"`statistics_every >= 0` must hold, but got statistics_every={self.statistics_every!r}."
            raise ConfigurationError(message)
        if self.disk_budget <= 0:
            message = f"`disk_budget > 0` must hold, but got disk_budget={self.disk_budget}."
            raise ConfigurationError(message)
        if self.resume and self.out_dir is None:
            message = "`resume=True` needs the `out_dir` of the run to continue. `cutaway runs list` shows them."
            raise ConfigurationError(message)
        if self.from_step is not None and not self.resume:
            message = f"`from_step` belongs to `resume=True`, but got from_step={self.from_step} without it."
            raise ConfigurationError(message)
        if self.out_dir is not None and "://" in str(self.out_dir):
            message = f"`out_dir` must be a local path for now, but got {str(self.out_dir)!r}."
            raise ConfigurationError(message)
        for name in ("include_regex", "channel_activity"):
            patterns = texts(getattr(self, name), name) if getattr(self, name) is not None else ()
            for pattern in patterns:
                compile_pattern(pattern, name)
            object.__setattr__(self, name, tuple(patterns))
        object.__setattr__(self, "save_config", SaveConfig.parse(self.save_config))
        if self.reduction_config is not None:
            object.__setattr__(self, "reduction_config", ReductionConfig.parse(self.reduction_config))

    @property
    def folder(self) -> Path | None:
        """The run folder that was asked for, or None for one of our own choice."""
        return None if self.out_dir is None else Path(self.out_dir).expanduser()
