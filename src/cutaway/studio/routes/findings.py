"""What was concluded about a run, from a conclusion to its evidence, and steering a training that runs."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query

from cutaway.studio.answers.paging import Limit, Offset, page_of
from cutaway.studio.findings import ask_for, chosen_findings, finding_detail, finding_row, findings_of, requests_of
from cutaway.studio.routes.runs import RunId
from cutaway.studio.tensors.rows import findings_of_layer
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data, Page
from cutaway.studio.wire.life import FindingDetail, FindingRow, LeftRequest, NewRequest, RequestRow

__all__ = ["router"]

router = APIRouter(prefix="/runs/{run}")


@router.get("/findings", tags=["findings"])
def list_findings(
    studio: TheStudio,
    *,
    run: RunId,
    severity: Annotated[list[Literal["info", "warning", "error"]], Query(max_length=3)] = [],  # noqa: B006
    code: Annotated[str, Query(max_length=200)] = "",
    about: Annotated[Literal["training", "samples", "all"], Query(description="Samples: what analyses found.")] = "all",
    layer: Annotated[str, Query(max_length=2000, description="Only those that name a tensor of this layer.")] = "",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Page[FindingRow]:
    """Return the findings of a run, the newest step first."""
    with studio.opened.trial(run) as trial:
        chosen = chosen_findings(findings_of(trial), severities=severity, code=code, about=about)
        if layer:
            known = findings_of_layer(trial, layer)
            chosen = [one for one in chosen if one.id in known]
        rows = [finding_row(one, trial.run) for one in chosen[offset : offset + limit]]
    return Page(data=rows, total=len(chosen), offset=offset, limit=limit)


@router.get("/findings/{finding}", tags=["findings"])
def show_finding(studio: TheStudio, run: RunId, finding: Annotated[str, Path(max_length=200)]) -> Data[FindingDetail]:
    """Return a finding with its evidence, what to try, and the window of steps whose samples it may be about."""
    with studio.opened.trial(run) as trial:
        return Data(data=finding_detail(trial, finding))


@router.get("/requests", tags=["steering"])
def list_requests(studio: TheStudio, run: RunId, offset: Offset = 0, limit: Limit = 100) -> Page[RequestRow]:
    """Return what was asked of the training, the newest first."""
    return page_of(requests_of(studio.index.run_of(run)), offset, limit)


@router.post("/requests", tags=["steering"], status_code=201)
def ask(studio: TheStudio, run: RunId, wanted: NewRequest) -> Data[LeftRequest]:
    """Leave a request for the training; refused at once where nobody is running it."""
    return Data(data=ask_for(studio.index.run_of(run), wanted))
