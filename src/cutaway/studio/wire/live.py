"""What a studio is, and what it says has changed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cutaway.studio.wire.base import State, Wire

__all__ = ["About", "Event", "Events", "Indexing", "Login", "What"]

What = Literal[
    "listed",
    "state",
    "steps",
    "scalars",
    "findings",
    "requests",
    "annotations",
    "samples",
    "jobs",
    "indexing",
]


class Indexing(Wire):
    """How far the first look at all runs of the folder is; `done` equals `total` once every run is listed."""

    done: int
    total: int


class About(Wire):
    """What this studio is and looks at."""

    version: str
    folder: str = Field(description="The folder's name, as a person wrote it.")
    runs: int
    indexing: Indexing
    token: bool = Field(description="Whether this studio asks for a token.")
    read_only: bool = Field(description="Whether it only shows: nothing can be changed, and no model is asked.")


class Login(Wire):
    """A token, given once by the page in exchange for a cookie."""

    token: str = Field(max_length=1024)


class Event(Wire):
    """That something has changed; whoever cares asks for it."""

    topic: str = Field(description="`runs`, `jobs`, or `run:<id>`.")
    what: What
    run: str | None = None
    step: int | None = None
    state: State | None = None
    indexing: Indexing | None = None


class Events(Wire):
    """The events since a token, for those who poll, and the token for the next time."""

    events: list[Event]
    since: str
