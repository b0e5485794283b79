"""The table of runs: listing, its columns, what people write about a run, and comparing several."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutaway.studio.answers.arrow import ArrowResponse, arrow_answer
from cutaway.studio.answers.paging import Limit, Offset
from cutaway.studio.runs.comparing import compare_runs, curves_of_runs
from cutaway.studio.runs.rows import columns_of, page_of_runs
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data, Page
from cutaway.studio.wire.runs import AnnotationsChange, RunAnnotations, RunColumn, RunComparison, RunRow

__all__ = ["router"]

router = APIRouter(tags=["runs"])

RunId = Annotated[str, Path(max_length=200, description="The id of a run, as `GET /api/runs` lists it.")]


@router.get("/runs")
def list_runs(
    studio: TheStudio,
    *,
    search: Annotated[str, Query(max_length=200, description="Words that name, project, tags or note hold.")] = "",
    where: Annotated[
        list[str], Query(max_length=20, description="Conditions such as `config.lr < 0.1` or `state = 'running'`.")
    ] = [],  # noqa: B006 - FastAPI copies it
    sort: Annotated[str, Query(max_length=200, description="A column; with a '-' before it, descending.")] = "-created",
    columns: Annotated[list[str], Query(max_length=100, description="Columns whose values `cells` shall have.")] = [],  # noqa: B006
    offset: Offset = 0,
    limit: Limit = 100,
) -> Page[RunRow]:
    """Return the runs of the folder that match, sorted; a baseline is marked, not moved."""
    return page_of_runs(
        studio.index.table(), search=search, where=where, sort=sort, columns=columns, offset=offset, limit=limit
    )


@router.get("/runs/columns")
def list_columns(studio: TheStudio) -> Data[list[RunColumn]]:
    """Return every column that the table of runs can have."""
    return Data(data=columns_of(studio.index.table()))


@router.patch("/runs/{run}/annotations")
def annotate(studio: TheStudio, run: RunId, change: AnnotationsChange) -> Data[RunAnnotations]:
    """Change the tags and the note of a run, or make it the baseline."""
    written = studio.index.annotate(run, change)
    return Data(data=RunAnnotations(tags=list(written.tags), note=written.note, baseline=written.baseline))


@router.get("/compare")
def compare(studio: TheStudio, run: Annotated[list[str], Query(min_length=1, max_length=50)]) -> Data[RunComparison]:
    """Return several runs side by side: how their configurations differ, and which curves they have."""
    asked = list(dict.fromkeys(run))
    index = studio.index
    return Data(data=compare_runs([index.row_of(one) for one in asked], [index.run_of(one) for one in asked]))


@router.get("/compare/curves.arrow", response_class=ArrowResponse)
def compare_curves(
    studio: TheStudio,
    *,
    run: Annotated[list[str], Query(min_length=1, max_length=50)],
    series: Annotated[str, Query(max_length=500, description="`<name>@<mode>`.")],
    points: Annotated[int, Query(ge=10, le=20_000)] = 1000,
) -> ArrowResponse:
    """Return one series of several runs: columns run (dictionary), step, epoch, time, value, min, max, nonfinite.

    Thinned as the curves of one run are. A run without the series has no rows.
    """
    asked = list(dict.fromkeys(run))
    rows = [studio.index.row_of(one) for one in asked]
    return arrow_answer(curves_of_runs(asked, studio.opened, series, rows, points))
