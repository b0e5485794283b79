"""`Studio`: what the handlers of the HTTP API share. Holds parts that each guard themselves; knows no HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

__all__ = ["Studio", "TheStudio"]


@dataclass(frozen=True)
class Studio:
    """A folder of runs, or one run, as a studio looks at it."""

    root: Path


def _studio_of(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


TheStudio = Annotated[Studio, Depends(_studio_of)]
"""A handler's parameter of this type is the studio that it answers for."""
