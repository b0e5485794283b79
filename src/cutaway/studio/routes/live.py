"""What is live: one stream of events for everything that a page watches, and the same by polling."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire import Data, Events

__all__ = ["router"]

router = APIRouter(tags=["live"])

Topics = Annotated[list[str], Query(alias="topic", min_length=1, max_length=50, description="`runs`, or `run:<id>`.")]


@router.get("/live", response_class=Response)
async def stream(studio: TheStudio, topics: Topics) -> Response:
    """Stream events as they happen (`text/event-stream`, each an `Event` as JSON)."""
    raise NotImplementedError


@router.get("/changes")
def changes(studio: TheStudio, topics: Topics, since: Annotated[str, Query(max_length=200)] = "") -> Data[Events]:
    """Return the events since a token; without one, the token of now."""
    raise NotImplementedError
