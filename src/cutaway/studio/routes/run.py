"""One run: what it is, its curves, its steps and the samples that they were fed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from cutaway.studio.arrow import ArrowResponse
from cutaway.studio.paging import Limit, Offset
from cutaway.studio.routes.runs import RunId
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire import Data, LayerRow, Page, RunDetail, ScalarRow, SeenSample, StepRow

__all__ = ["FirstStep", "LastStep", "Points", "router"]

router = APIRouter(prefix="/runs/{run}", tags=["run"])

FirstStep = Annotated[int | None, Query(alias="from", ge=0, le=2**53, description="The first step.")]
LastStep = Annotated[int | None, Query(alias="to", ge=0, le=2**53, description="The last step, itself included.")]
Points = Annotated[int, Query(ge=10, le=20_000, description="At most so many points a series.")]


@router.get("")
def show_run(studio: TheStudio, run: RunId) -> Data[RunDetail]:
    """Return everything about a run that fits on one screen."""
    raise NotImplementedError


@router.get("/scalars")
def list_scalars(studio: TheStudio, run: RunId) -> Data[list[ScalarRow]]:
    """Return the series of numbers of a run: losses, metrics, learning rates, throughput."""
    raise NotImplementedError


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
    raise NotImplementedError


@router.get("/steps")
def list_steps(
    studio: TheStudio,
    *,
    run: RunId,
    first: FirstStep = None,
    last: LastStep = None,
    offset: Offset = 0,
    limit: Limit = 100,
) -> Page[StepRow]:
    """Return recorded steps: when each was, how long its phases took, how many samples it was fed."""
    raise NotImplementedError


@router.get("/samples")
def seen_samples(
    studio: TheStudio,
    *,
    run: RunId,
    first: FirstStep = None,
    last: LastStep = None,
    offset: Offset = 0,
    limit: Limit = 100,
) -> Page[SeenSample]:
    """Return the samples that a window of steps was fed, those with the largest loss first where it was saved."""
    raise NotImplementedError


@router.get("/preview", response_class=Response)
def preview(studio: TheStudio, run: RunId, sample: Annotated[str, Query(max_length=2000)]) -> Response:
    """Return the small picture of a sample as PNG."""
    raise NotImplementedError


@router.get("/layers")
def list_layers(studio: TheStudio, run: RunId) -> Data[list[LayerRow]]:
    """Return the layers of the model as the names of its tensors tell, with how each does."""
    raise NotImplementedError
