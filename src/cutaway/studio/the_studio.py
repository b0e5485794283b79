"""`Studio`: what the handlers of the HTTP API share. Holds parts that each guard themselves; knows no HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from cutaway.studio.guards.tokens import Gate
from cutaway.studio.index import RunIndex
from cutaway.studio.jobs.the_jobs import Jobs
from cutaway.studio.live import Feed
from cutaway.studio.populations import Populations
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.runs.opened import OpenedRuns
from cutaway.studio.workers.pool import Workers

__all__ = ["Studio", "TheStudio"]


@dataclass(frozen=True)
class Studio:
    """A folder of runs, or one run, as a studio looks at it. Make one with `open`, and end it with `close`."""

    root: Path
    index: RunIndex
    opened: OpenedRuns
    previews: SamplePreviews
    populations: Populations
    workers: Workers
    jobs: Jobs
    feed: Feed
    gate: Gate | None = None
    read_only: bool = False

    @classmethod
    def open(cls, root: Path, *, gate: Gate | None = None, read_only: bool = False) -> Studio:
        """Return a studio of a folder of runs, or of one run; with a gate it asks for a token.

        One that is read-only changes nothing, runs no binding and opens no model.
        """
        index = RunIndex(root).start()
        opened = OpenedRuns(index.run_of)
        jobs = Jobs(index)
        return cls(
            root=root,
            index=index,
            opened=opened,
            previews=SamplePreviews(),
            populations=Populations(index.run_of),
            workers=Workers(index.run_of, read_only=read_only),
            jobs=jobs,
            feed=Feed(index, jobs),
            gate=gate,
            read_only=read_only,
        )

    def close(self) -> None:
        """Let go of everything; open streams end. Closing twice is allowed."""
        self.feed.close()
        self.workers.close()
        self.jobs.close()
        self.index.close()
        self.opened.close()
        self.populations.close()


def _studio_of(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


TheStudio = Annotated[Studio, Depends(_studio_of)]
"""A handler's parameter of this type is the studio that it answers for."""
