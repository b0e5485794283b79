"""Steering: requests to a running training, left in its run folder, and what became of them."""

from __future__ import annotations

from fastapi import APIRouter

from cutaway.studio.answers.paging import Limit, Offset, page_of
from cutaway.studio.findings.steering import ask_for, requests_of
from cutaway.studio.routes.runs import RunId
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data, Page
from cutaway.studio.wire.life import LeftRequest, NewRequest, RequestRow

__all__ = ["router"]

router = APIRouter(prefix="/runs/{run}/requests", tags=["steering"])


@router.get("")
def list_requests(studio: TheStudio, run: RunId, offset: Offset = 0, limit: Limit = 100) -> Page[RequestRow]:
    """Return what was asked of the training, the newest first."""
    return page_of(requests_of(studio.index.run_of(run)), offset, limit)


@router.post("", status_code=201)
def ask(studio: TheStudio, run: RunId, wanted: NewRequest) -> Data[LeftRequest]:
    """Leave a request for the training; refused at once where nobody is running it."""
    return Data(data=ask_for(studio.index.run_of(run), wanted))
