"""Decides at which steps tensors are saved. Does not read tensors, know frameworks or write files."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.settings import JsonSettings, compile_pattern, refuse_unknown, texts

__all__ = ["DEFAULT_SAVE_INTERVAL", "SaveConfig", "SaveConfigLike", "SaveConfigMode"]

DEFAULT_SAVE_INTERVAL = 100
_SCHEDULE = ("save_interval", "start_step", "end_step", "save_steps")


@dataclass(frozen=True)
class SaveConfigMode:
    """The steps of one mode that are saved.

    A step is saved when `start_step <= step < end_step` and `step % save_interval == 0`.
    `save_steps`, where given and not empty, overrides the other three: only those steps are saved.
    `end_step=0` saves nothing.

    >>> schedule = SaveConfigMode(save_interval=100, start_step=150)
    >>> [step for step in range(500) if schedule.should_save_step(step)]
    [200, 300, 400]
    """

    save_interval: int = DEFAULT_SAVE_INTERVAL
    start_step: int = 0
    end_step: int | None = None
    save_steps: Iterable[int] | None = None
    _listed: frozenset[int] = field(init=False, repr=False, compare=False, default=frozenset())

    def __post_init__(self) -> None:
        listed = _step_list(self.save_steps)
        end_step = None if self.end_step is None else _whole_number("end_step", self.end_step, at_least=0)
        values = {
            "save_interval": _whole_number("save_interval", self.save_interval, at_least=1),
            "start_step": _whole_number("start_step", self.start_step, at_least=0),
            "end_step": end_step,
            "save_steps": listed or None,
            "_listed": frozenset(listed),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if end_step and not listed and end_step <= self.start_step:
            raise ConfigurationError(
                f"`start_step < end_step` must hold, but got start_step={self.start_step}, end_step={end_step}.",
                hint="Write `end_step=0` to save nothing.",
            )

    def should_save_step(self, step: int) -> bool:
        """Say whether this step, counted in its own mode, is saved."""
        if self._listed:
            return step in self._listed
        if step % self.save_interval or step < self.start_step:
            return False
        return self.end_step is None or step < self.end_step

    def next_save(self, step: int) -> int | None:
        """Return the first saved step that is not before `step`, or None where no more come."""
        if self.save_steps is not None:
            return next((listed for listed in self.save_steps if listed >= step), None)
        first = max(step, self.start_step)
        first += -first % self.save_interval
        return first if self.end_step is None or first < self.end_step else None

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON values."""
        steps = None if self.save_steps is None else list(self.save_steps)
        return {
            "save_interval": self.save_interval,
            "start_step": self.start_step,
            "end_step": self.end_step,
            "save_steps": steps,
        }

    @classmethod
    def parse(cls, value: SaveConfigMode | Mapping[str, object]) -> SaveConfigMode:
        """Return a SaveConfigMode from itself or from a dictionary of its arguments."""
        if isinstance(value, SaveConfigMode):
            return value
        if not isinstance(value, Mapping):
            raise ConfigurationError(f"A mode's save configuration is a `SaveConfigMode`, but got {value!r}.")
        refuse_unknown(value, _SCHEDULE, "`SaveConfigMode`")
        return cls(**value)  # type: ignore[arg-type]  # each value is checked by __post_init__


@dataclass(frozen=True)
class SaveConfig(JsonSettings):
    """When tensors are saved: one schedule for every mode, or one for each.

    `mode_save_configs` gives single modes a schedule of their own. A mode that it leaves out follows the other
    arguments where any of them is given, else the hook's own configuration (see `fill`).
    `when_nan` lists tensors by name or regular expression: once a watched one holds a NaN or an infinity, that step
    is saved too, besides the schedule.

    >>> SaveConfig(save_interval=10).should_save_step(ModeKeys.TRAIN, 30)
    True
    >>> SaveConfig({ModeKeys.EVAL: SaveConfigMode(save_interval=1)}).should_save_step(ModeKeys.EVAL, 7)
    True
    """

    _what: ClassVar[str] = "save configuration"

    mode_save_configs: Mapping[ModeKeys, SaveConfigMode] | None = None
    save_interval: int = DEFAULT_SAVE_INTERVAL
    start_step: int = 0
    end_step: int | None = None
    save_steps: Iterable[int] | None = None
    when_nan: str | Iterable[str] | None = None
    _schedules: dict[ModeKeys, SaveConfigMode] = field(init=False, repr=False, compare=False, default_factory=dict)
    _watched: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        base = SaveConfigMode(self.save_interval, self.start_step, self.end_step, self.save_steps)
        given = self.mode_save_configs or {}
        own = {ModeKeys.parse(mode): SaveConfigMode.parse(value) for mode, value in given.items()}
        watched = None if self.when_nan is None else texts(self.when_nan, "when_nan")
        for name in _SCHEDULE:
            object.__setattr__(self, name, getattr(base, name))
        object.__setattr__(self, "mode_save_configs", own or None)
        object.__setattr__(self, "when_nan", watched)
        object.__setattr__(self, "_schedules", {mode: own.get(mode, base) for mode in ModeKeys})
        object.__setattr__(self, "_watched", tuple(compile_pattern(text, "when_nan") for text in watched or ()))

    def __hash__(self) -> int:
        # The dictionary of modes cannot be hashed as the generated method would try to.
        return hash((tuple(self._schedules.items()), self.when_nan))

    def should_save_step(self, mode: ModeKeys, step: int) -> bool:
        """Say whether the schedule saves this step; `step` counts within `mode`."""
        return self._schedules[mode].should_save_step(step)

    def schedule(self, mode: ModeKeys) -> SaveConfigMode:
        """Return the schedule that holds in a mode."""
        return self._schedules[mode]

    def watches(self, tensor_name: str) -> bool:
        """Say whether a non-finite value in this tensor saves the step."""
        return any(pattern.pattern == tensor_name or pattern.search(tensor_name) for pattern in self._watched)

    def fill(self, default: SaveConfig) -> SaveConfig:
        """Return this configuration with what it leaves open taken from `default`, the hook's.

        Open are the modes missing from a dictionary that came without other arguments, and an unsaid `when_nan`
        (`when_nan=[]` says: none).
        """
        when_nan = default.when_nan if self.when_nan is None else self.when_nan
        open_modes = self.mode_save_configs is not None and self._base() == SaveConfigMode()
        if not open_modes:
            return replace(self, when_nan=when_nan)
        modes = {**default._schedules, **(self.mode_save_configs or {})}
        return SaveConfig(modes, when_nan=when_nan)

    def to_dict(self) -> dict[str, object]:
        """Return the configuration as JSON values; `parse` reads it back."""
        found = self._base().to_dict()
        if self.mode_save_configs is not None:
            found["mode_save_configs"] = {mode.name: value.to_dict() for mode, value in self.mode_save_configs.items()}
        if self.when_nan is not None:
            found["when_nan"] = list(self.when_nan)
        return found

    @classmethod
    def parse(cls, value: SaveConfigLike) -> SaveConfig:
        """Return a SaveConfig from whatever users write for one.

        A SaveConfig, a SaveConfigMode for all modes, a dictionary of modes (`{modes.TRAIN: SaveConfigMode(...)}`),
        a dictionary of arguments (`{"save_interval": 10}`), or None for the default.
        """
        if value is None:
            return cls()
        if isinstance(value, SaveConfig):
            return value
        if isinstance(value, SaveConfigMode):
            return cls(None, value.save_interval, value.start_step, value.end_step, value.save_steps)
        if not isinstance(value, Mapping):
            raise ConfigurationError(
                f"`save_config` takes a `SaveConfig`, a `SaveConfigMode` or a dictionary of modes, but got {value!r}."
            )
        arguments = (*_SCHEDULE, "mode_save_configs", "when_nan")
        if any(key in arguments for key in value):
            refuse_unknown(value, arguments, "`SaveConfig`")
            return cls(**value)  # type: ignore[arg-type]  # each value is checked by __post_init__
        known = [*ModeKeys.__members__, *arguments]
        for key in value:
            if isinstance(key, str) and key.strip().upper() not in ModeKeys.__members__:
                raise ConfigurationError(
                    f"`save_config` has no mode or setting {key!r}.", hint=did_you_mean(key, known)
                )
        return cls(value)  # type: ignore[arg-type]  # modes and schedules are checked by __post_init__

    def _base(self) -> SaveConfigMode:
        return SaveConfigMode(self.save_interval, self.start_step, self.end_step, self.save_steps)


SaveConfigLike = SaveConfig | SaveConfigMode | Mapping[ModeKeys, SaveConfigMode] | Mapping[str, object] | None


def _whole_number(name: str, value: object, *, at_least: int) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # whatever is no integer raises TypeError
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise ConfigurationError(f"`{name}` must be a whole number, but got {name}={value!r}.")
    if number < at_least:
        raise ConfigurationError(f"`{name} >= {at_least}` must hold, but got {name}={number}.")
    return number


def _step_list(value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ConfigurationError(f"`save_steps` takes a list of steps, but got save_steps={value!r}.")
    return tuple(sorted({_whole_number("save_steps", step, at_least=0) for step in value}))
