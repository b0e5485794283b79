"""The tensors of a run: which there are, their statistics over the steps, and what was saved in full."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from cutaway.studio.answers.arrow import ArrowResponse, arrow_answer
from cutaway.studio.answers.paging import Limit, Offset
from cutaway.studio.routes.run import FirstStep, LastStep, Points
from cutaway.studio.routes.runs import RunId
from cutaway.studio.tensors.rows import tensor_detail, tensor_page
from cutaway.studio.tensors.series import histogram_of, overview_table, series_table, values_table
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data, Page
from cutaway.studio.wire.life import Histogram, TensorDetail, TensorRow
from cutaway.tensors.statistic_names import StatisticName

__all__ = ["router"]

router = APIRouter(prefix="/runs/{run}", tags=["tensors"])

TensorName = Annotated[str, Query(max_length=2000, description="The name of a tensor.")]
Collection = Annotated[str, Query(max_length=200, description="Only tensors of this collection.")]
Search = Annotated[str, Query(max_length=200, description="Only tensors whose name holds this text.")]


@router.get("/tensors")
def list_tensors(
    studio: TheStudio,
    *,
    run: RunId,
    collection: Collection = "",
    search: Search = "",
    sort: Annotated[str, Query(max_length=100)] = "name",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Page[TensorRow]:
    """Return the tensors of a run with how each was at its last step."""
    with studio.opened.trial(run) as trial:
        return tensor_page(trial, collection=collection, search=search, sort=sort, offset=offset, limit=limit)


@router.get("/tensors/overview.arrow", response_class=ArrowResponse)
def overview(
    studio: TheStudio,
    *,
    run: RunId,
    statistic: StatisticName = "l2",
    collection: Collection = "",
    search: Search = "",
    first: FirstStep = None,
    last: LastStep = None,
    columns: Annotated[int, Query(ge=1, le=2000, description="At most so many stretches of steps.")] = 300,
) -> ArrowResponse:
    """Return one statistic of every tensor over the steps, for stripes: one row a tensor, in the model's order.

    Columns: tensor, layer, last, min and max (each a list of float32, one value a stretch of steps; NaN where it has
    none there), nonfinite (list of float32: the most values of one step in the stretch that were not finite). The
    schema's metadata has `steps`: the first step of each stretch, and the end of the last, as JSON.
    """
    with studio.opened.trial(run) as trial:
        return arrow_answer(
            overview_table(
                trial,
                statistic=statistic,
                collection=collection,
                search=search,
                first=first,
                last=last,
                columns=columns,
            )
        )


@router.get("/tensor")
def show_tensor(studio: TheStudio, run: RunId, name: TensorName) -> Data[TensorDetail]:
    """Return one tensor: its shape, the steps that have its full values, and its findings."""
    with studio.opened.trial(run) as trial:
        return Data(data=tensor_detail(trial, name))


@router.get("/tensor/series.arrow", response_class=ArrowResponse)
def tensor_series(
    studio: TheStudio,
    *,
    run: RunId,
    name: TensorName,
    first: FirstStep = None,
    last: LastStep = None,
    points: Points = 1000,
) -> ArrowResponse:
    """Return the statistics of a tensor over the steps: column step, and each statistic with its last in each stretch.

    `<statistic>_min` and `<statistic>_max` are the extremes of the stretch; `nonfinite` is the most of one step.
    """
    with studio.opened.trial(run) as trial:
        return arrow_answer(series_table(trial, name, first=first, last=last, points=points))


@router.get("/tensor/histogram")
def histogram(
    studio: TheStudio,
    *,
    run: RunId,
    name: TensorName,
    step: Annotated[int, Query(ge=0, le=2**53)],
    bins: Annotated[int, Query(ge=1, le=500)] = 60,
) -> Data[Histogram]:
    """Return the distribution of a tensor's values at a step that saved it in full."""
    with studio.opened.trial(run) as trial:
        return Data(data=histogram_of(trial, name, step, bins))


@router.get("/tensor/values.arrow", response_class=ArrowResponse)
def values(
    studio: TheStudio,
    *,
    run: RunId,
    name: TensorName,
    step: Annotated[int, Query(ge=0, le=2**53)],
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=1_000_000)] = 100_000,
) -> ArrowResponse:
    """Return the values of a tensor in row-major order, from `offset` on: column value; metadata shape, dtype."""
    with studio.opened.trial(run) as trial:
        return arrow_answer(values_table(trial, name, step, offset=offset, limit=limit))
