"""What became of the attempt to keep a copy of a live model. A value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["KeptModel"]


@dataclass(frozen=True)
class KeptModel:
    """The file that holds the copy and its format, or `reason`: why there is none.

    `notes` say what the copy cannot do that the live model can.
    """

    path: Path | None
    format: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
