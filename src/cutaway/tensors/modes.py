"""The four modes that a step can belong to. Does not count steps; the hook and the trial do."""

from __future__ import annotations

from enum import Enum

from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["ModeKeys", "modes"]


class ModeKeys(Enum):
    """What a step was for. Each of TRAIN, EVAL and PREDICT counts its own steps; GLOBAL counts all of them.

    A step taken before any `set_mode` belongs to GLOBAL.

    >>> ModeKeys.parse("train") is modes.TRAIN
    True
    """

    TRAIN = 1
    EVAL = 2
    PREDICT = 3
    GLOBAL = 4

    # Every step of a training looks its mode up; Enum's own hash is a call of Python each time.
    __hash__ = object.__hash__

    @property
    def evaluates(self) -> bool:
        """Whether a step of this mode only looks at the model, and never trains it."""
        return self in (ModeKeys.EVAL, ModeKeys.PREDICT)

    @classmethod
    def parse(cls, mode: str | ModeKeys) -> ModeKeys:
        """Return the mode of that name, in any case; a ModeKeys comes back as it is."""
        if isinstance(mode, ModeKeys):
            return mode
        if isinstance(mode, str) and mode.strip().upper() in cls.__members__:
            return cls[mode.strip().upper()]
        known = list(cls.__members__)
        raise ConfigurationError(
            f"No mode {mode!r}: it is one of {', '.join(known)}.", hint=did_you_mean(str(mode).strip(), known)
        )


modes = ModeKeys
