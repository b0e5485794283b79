"""One run: what it is, its curves, its steps and the samples that they were fed."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from cutaway.studio.answers.arrow import ArrowResponse, arrow_answer
from cutaway.studio.answers.paging import Limit, Offset
from cutaway.studio.curves.scalars import all_curves, scalar_row
from cutaway.studio.curves.tables import curves_table, wanted_curves
from cutaway.studio.routes.runs import RunId
from cutaway.studio.runs.detail import run_detail
from cutaway.studio.runs.rows import run_row
from cutaway.studio.runs.steps import seen_page, step_page
from cutaway.studio.tensors.rows import layer_rows
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data, Page
from cutaway.studio.wire.life import LayerRow, ScalarRow, SeenSample, StepRow
from cutaway.studio.wire.runs import RunDetail

__all__ = ["FirstStep", "LastStep", "Points", "router"]

router = APIRouter(prefix="/runs/{run}", tags=["run"])

FirstStep = Annotated[int | None, Query(alias="from", ge=0, le=2**53, description="The first step.")]
LastStep = Annotated[int | None, Query(alias="to", ge=0, le=2**53, description="The last step, itself included.")]
Points = Annotated[int, Query(ge=10, le=20_000, description="At most so many points a series.")]


@dataclass(frozen=True)
class _StepRows:
    """A window of steps, and which of its rows."""

    first: FirstStep = None
    last: LastStep = None
    offset: Offset = 0
    limit: Limit = 100


StepRows = Annotated[_StepRows, Depends()]


@router.get("")
def show_run(studio: TheStudio, run: RunId) -> Data[RunDetail]:
    """Return everything about a run that fits on one screen."""
    row = run_row(studio.index.row_of(run))
    with studio.opened.trial(run) as trial:
        return Data(data=run_detail(trial, row))


@router.get("/scalars")
def list_scalars(studio: TheStudio, run: RunId) -> Data[list[ScalarRow]]:
    """Return the series of numbers of a run: losses, metrics, learning rates, throughput."""
    with studio.opened.trial(run) as trial:
        return Data(data=[scalar_row(curve) for curve in all_curves(trial).values()])


@router.get("/curves.arrow", response_class=ArrowResponse)
def curves(
    studio: TheStudio,
    *,
    run: RunId,
    series: Annotated[list[str], Query(min_length=1, max_length=100, description="`<name>@<mode>`, several times.")],
    first: FirstStep = None,
    last: LastStep = None,
    points: Points = 1000,
) -> ArrowResponse:
    """Return series as Arrow: columns series (dictionary), step, epoch, time, value, min, max, nonfinite.

    A series with more points than asked is thinned by stretches of steps: `value` is a stretch's last, `min` and `max`
    its extremes, `nonfinite` how many values in it were not finite. A value that is not finite is null.
    """
    with studio.opened.trial(run) as trial:
        wanted = wanted_curves(all_curves(trial), series, trial.name)
        return arrow_answer(curves_table(wanted, trial.step_columns(), first=first, last=last, points=points))


@router.get("/steps")
def list_steps(studio: TheStudio, run: RunId, asked: StepRows) -> Page[StepRow]:
    """Return recorded steps: when each was, how long its phases took, how many samples it was fed."""
    with studio.opened.trial(run) as trial:
        return step_page(trial.step_columns(), **vars(asked))


@router.get("/samples")
def seen_samples(studio: TheStudio, run: RunId, asked: StepRows) -> Page[SeenSample]:
    """Return the samples that a window of steps was fed, those with the largest loss first where it was saved."""
    with studio.opened.trial(run) as trial:
        return seen_page(trial, studio.previews, **vars(asked))


@router.get("/preview", response_class=Response)
def preview(studio: TheStudio, run: RunId, sample: Annotated[str, Query(max_length=2000)]) -> Response:
    """Return the small picture of a sample as PNG."""
    png = studio.previews.png(studio.index.run_of(run), sample)
    # A picture from a stranger's run is nothing but a picture, also where somebody opens its address by itself.
    return Response(png, media_type="image/png", headers={"Content-Security-Policy": "sandbox"})


@router.get("/previews")
def previews(
    studio: TheStudio,
    run: RunId,
    sample: Annotated[list[Annotated[str, Query(max_length=2000)]], Query(min_length=1, max_length=100)],
) -> Data[dict[str, str]]:
    """Return the small pictures of several samples as base64 of PNG, by id; those without one are left out."""
    found = studio.previews.several(studio.index.run_of(run), sample)
    return Data(data={name: base64.b64encode(png).decode() for name, png in found.items()})


@router.get("/layers")
def list_layers(studio: TheStudio, run: RunId) -> Data[list[LayerRow]]:
    """Return the layers of the model as the names of its tensors tell, with how each does."""
    with studio.opened.trial(run) as trial:
        return Data(data=layer_rows(trial))
