"""Work that takes longer than a click: starting it, how far it is, what it wrote, and cancelling it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutaway.studio.answers.paging import Limit, Offset, page_of
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data, Page
from cutaway.studio.wire.jobs import JobLog, JobRow, NewJob

__all__ = ["router"]

router = APIRouter(prefix="/jobs", tags=["jobs"])

JobId = Annotated[str, Path(max_length=200, description="The id of a job, as `GET /api/jobs` lists it.")]


@router.get("")
def list_jobs(
    studio: TheStudio,
    *,
    run: Annotated[str, Query(max_length=200, description="Only those of this run.")] = "",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Page[JobRow]:
    """Return the jobs of all runs, the newest first."""
    return page_of(studio.jobs.rows(run), offset, limit)


@router.post("", status_code=201)
def start_job(studio: TheStudio, job: NewJob) -> Data[JobRow]:
    """Start a job; where the same is running already, that one is returned."""
    return Data(data=studio.jobs.start(job))


@router.get("/{job}")
def show_job(studio: TheStudio, job: JobId) -> Data[JobRow]:
    """Return how far a job is."""
    return Data(data=studio.jobs.row(job))


@router.post("/{job}/cancel")
def cancel_job(studio: TheStudio, job: JobId) -> Data[JobRow]:
    """End a job; what it kept so far stays."""
    return Data(data=studio.jobs.cancel(job))


@router.get("/{job}/log")
def job_log(
    studio: TheStudio, job: JobId, start: Annotated[int, Query(alias="from", ge=0, le=2**53)] = 0
) -> Data[JobLog]:
    """Return what a job wrote, from a line on."""
    return Data(data=studio.jobs.log(job, start))
