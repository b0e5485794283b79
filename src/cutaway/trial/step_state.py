"""What a trial answers to the question whether it has passed a step."""

from __future__ import annotations

from enum import Enum

__all__ = ["StepState"]


class StepState(Enum):
    """Whether a step can be read."""

    UNAVAILABLE = 0  # it was not saved, and will not be
    AVAILABLE = 1
    NOT_YET_AVAILABLE = 2
