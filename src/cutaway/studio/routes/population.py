"""The population of an evaluation: its map, its columns, its rows and its clusters."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from cutaway.arrays import BoolArray
from cutaway.studio.answers.arrow import ArrowResponse, arrow_answer
from cutaway.studio.answers.paging import Limit, Offset
from cutaway.studio.populations import Loaded
from cutaway.studio.populations.choosing import chosen_rows, parse_lasso, rows_with, sorted_rows
from cutaway.studio.populations.cluster_rows import cluster_rows
from cutaway.studio.populations.coding import columns_table
from cutaway.studio.populations.detail import population_detail
from cutaway.studio.populations.downloads import csv_pieces, file_name
from cutaway.studio.populations.points import points_table
from cutaway.studio.populations.selecting import drop_kept, keep, kept_rows, kept_selection
from cutaway.studio.populations.table_rows import asked_rows, table_rows
from cutaway.studio.populations.thresholds import threshold_decisions
from cutaway.studio.routes.runs import RunId
from cutaway.studio.the_studio import Studio, TheStudio
from cutaway.studio.wire.base import Data, Page
from cutaway.studio.wire.population import (
    ClusterRow,
    NewSelection,
    PopulationDetail,
    PopulationRow,
    SelectionRow,
    ThresholdDecisions,
)

__all__ = ["EvaluationNumber", "SampleId", "Where", "router"]

router = APIRouter(prefix="/runs/{run}", tags=["population"])

EvaluationNumber = Annotated[
    int | None, Query(ge=0, le=2**31, description="Which evaluation; the last finished one by default.")
]
SampleId = Annotated[str, Query(max_length=2000, description="The id of a sample, such as `validation/12`.")]
Where = Annotated[
    list[Annotated[str, Query(max_length=2000)]],
    Query(max_length=50, description="Conditions such as `label = 4` or `loss > 1.5`; all of them hold."),
]
Lasso = Annotated[str, Query(max_length=8000, description="Corners of a polygon on the map: `x,y x,y x,y`.")]


@router.get("/population")
def show_population(studio: TheStudio, run: RunId, evaluation: EvaluationNumber = None) -> Data[PopulationDetail]:
    """Return the population of an evaluation: what it has, what can be drawn, and what was analysed."""
    loaded = studio.populations.of(run, evaluation)
    return Data(data=population_detail(loaded, studio.populations.scores))


@router.get("/population/points.arrow", response_class=ArrowResponse)
def points(
    studio: TheStudio,
    *,
    run: RunId,
    evaluation: EvaluationNumber = None,
    method: Annotated[str, Query(max_length=20, description="umap, tsne or pca, where there is such a map.")] = "",
    like: Annotated[
        int | None, Query(ge=0, le=2**31, description="Another evaluation whose samples and order are meant.")
    ] = None,
) -> ArrowResponse:
    """Return the map as Arrow: columns row (uint32), x, y (float32), NaN where a sample has no place.

    The order is drawn once for an evaluation, so that the first rows are a fair sample of all. With `like` the samples
    are those of that evaluation in its order, where they lie in this one. `samples` in the table's metadata is the same
    for the same samples in the same order.
    """
    loaded = studio.populations.of(run, evaluation)
    other = None if like is None else studio.populations.of(run, like)
    return arrow_answer(points_table(loaded, method, other))


@router.get("/population/columns.arrow", response_class=ArrowResponse)
def columns(
    studio: TheStudio,
    *,
    run: RunId,
    evaluation: EvaluationNumber = None,
    column: Annotated[list[str], Query(min_length=1, max_length=50, description="Columns, by name.")],
) -> ArrowResponse:
    """Return columns as Arrow, in the order of the points: numbers as floats, everything else as a dictionary."""
    return arrow_answer(columns_table(studio.populations.of(run, evaluation), column))


@router.get("/population/rows")
def rows(
    studio: TheStudio,
    *,
    run: RunId,
    evaluation: EvaluationNumber = None,
    row: Annotated[list[int], Query(max_length=500, description="Rows, as `points.arrow` numbers them.")] = [],  # noqa: B006
    sample: Annotated[list[str], Query(max_length=500, description="Ids of samples.")] = [],  # noqa: B006
) -> Data[list[PopulationRow]]:
    """Return some samples by row or by id, in the order in which they were asked for; unknown ids are left out."""
    loaded = studio.populations.of(run, evaluation)
    return Data(data=table_rows(loaded, studio.previews, asked_rows(loaded, row, sample)))


@router.get("/population/search")
def search(
    studio: TheStudio,
    *,
    run: RunId,
    evaluation: EvaluationNumber = None,
    text: Annotated[str, Query(max_length=200, description="A part of an id, or of a text column.")] = "",
    where: Where = [],  # noqa: B006
    lasso: Lasso = "",
    sort: Annotated[str, Query(max_length=200, description="A column; with a '-' before it, descending.")] = "-loss",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Page[PopulationRow]:
    """Return the samples that a text or conditions fit, sorted."""
    loaded = studio.populations.of(run, evaluation)
    mask = chosen_rows(loaded, where, parse_lasso(lasso))
    if text:
        mask &= rows_with(loaded, text)
    found = sorted_rows(loaded, mask, sort)
    rows = table_rows(loaded, studio.previews, found[offset : offset + limit].tolist())
    return Page(data=rows, total=len(found), offset=offset, limit=limit)


@router.get("/population/thresholds")
def thresholds(
    studio: TheStudio,
    *,
    run: RunId,
    evaluation: EvaluationNumber = None,
    metric: Annotated[str, Query(max_length=2000, description="One of `confusion_metrics` of the population.")],
    threshold: Annotated[float, Query(description="A label is predicted above it.", allow_inf_nan=False)] = 0.5,
    where: Where = [],  # noqa: B006
    lasso: Lasso = "",
    selection: Annotated[str, Query(max_length=100, description="The name of a selection that was kept.")] = "",
) -> Data[ThresholdDecisions]:
    """Return how often a model is right about each label at a threshold, in a selection.

    Of held-out samples, unless a condition on `subset` says of which; of training where nothing is held out.
    """
    loaded, mask = _kept_rows(studio, run, evaluation, selection)
    mask &= chosen_rows(loaded, where, parse_lasso(lasso))
    kept = kept_selection(studio.index.run_of(run), selection).where if selection else ()
    return Data(data=threshold_decisions(loaded, metric, threshold, mask, [*where, *kept]))


@router.get("/population/samples.csv", response_class=Response)
def download(
    studio: TheStudio,
    *,
    run: RunId,
    evaluation: EvaluationNumber = None,
    where: Where = [],  # noqa: B006
    lasso: Lasso = "",
    selection: Annotated[str, Query(max_length=100, description="The name of a selection that was kept.")] = "",
    form: Annotated[
        str, Query(pattern="^(samples|label)$", description="label: for `cutaway fix --from`.")
    ] = "samples",
) -> Response:
    """Return samples as CSV: all their columns, or a list to label, which `cutaway fix --from` takes back."""
    loaded, mask = _kept_rows(studio, run, evaluation, selection)
    mask &= chosen_rows(loaded, where, parse_lasso(lasso))
    pieces = csv_pieces(loaded, np.flatnonzero(mask), form)
    headers = {"Content-Disposition": f'attachment; filename="{file_name(loaded, form)}"'}
    return StreamingResponse(pieces, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/population/clusters")
def clusters(studio: TheStudio, run: RunId, evaluation: EvaluationNumber = None) -> Data[list[ClusterRow]]:
    """Return the clusters of the map with what distinguishes each, the largest first."""
    return Data(data=cluster_rows(studio.populations.of(run, evaluation)))


@router.get("/selections")
def list_selections(studio: TheStudio, run: RunId) -> Data[list[SelectionRow]]:
    """Return the selections that were kept in the run."""
    return Data(data=kept_rows(studio.populations, studio.index.run_of(run)))


@router.post("/selections", status_code=201)
def keep_selection(studio: TheStudio, run: RunId, selection: NewSelection) -> Data[SelectionRow]:
    """Keep a selection under a name; one of the same name is replaced."""
    return Data(data=keep(studio.populations, studio.index.run_of(run), selection))


@router.delete("/selections", status_code=204)
def drop_selection(studio: TheStudio, run: RunId, name: Annotated[str, Query(max_length=100)]) -> None:
    """Remove a selection."""
    drop_kept(studio.index.run_of(run), name)


def _kept_rows(studio: Studio, run: str, evaluation: int | None, selection: str) -> tuple[Loaded, BoolArray]:
    """Return a population, and which of its rows a kept selection means; all where none is named."""
    if not selection:
        loaded = studio.populations.of(run, evaluation)
        return loaded, chosen_rows(loaded, [], [])
    kept = kept_selection(studio.index.run_of(run), selection)
    loaded = studio.populations.of(run, kept.evaluation if evaluation is None else evaluation)
    return loaded, chosen_rows(loaded, kept.where, kept.lasso, kept.samples)
