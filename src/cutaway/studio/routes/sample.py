"""One sample: what it is, how it is drawn, where the model looked, what is like it, and what was decided about it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from cutaway.studio.routes.population import EvaluationNumber, SampleId, Where
from cutaway.studio.routes.runs import RunId
from cutaway.studio.samples.asking import sample_heat_maps, sample_visuals
from cutaway.studio.samples.detail import sample_detail
from cutaway.studio.samples.similar import similar_samples
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data
from cutaway.studio.wire.sample import HeatMapAnswer, SampleDetail, SimilarAnswer, VisualRow

__all__ = ["router"]

router = APIRouter(prefix="/runs/{run}/sample", tags=["sample"])


@router.get("")
def show_sample(
    studio: TheStudio, run: RunId, sample: SampleId, evaluation: EvaluationNumber = None
) -> Data[SampleDetail]:
    """Return everything that is known of a sample without asking the model."""
    loaded = studio.populations.of(run, evaluation)
    return Data(data=sample_detail(loaded, studio.previews, studio.opened.trial(run), sample))


@router.get("/visuals")
def visuals(
    studio: TheStudio, run: RunId, sample: SampleId, evaluation: EvaluationNumber = None
) -> Data[list[VisualRow]]:
    """Return the sample as the visualizers of its binding show it; asks the model where they need its prediction."""
    loaded = studio.populations.of(run, evaluation)
    return Data(data=sample_visuals(studio.workers, loaded, run, sample))


@router.get("/heat-maps")
def heat_maps(
    studio: TheStudio,
    *,
    run: RunId,
    sample: SampleId,
    evaluation: EvaluationNumber = None,
    method: Annotated[str, Query(max_length=50, description="The one that does best on this model where empty.")] = "",
    target: Annotated[list[str], Query(max_length=20, description="Classes; the predicted one where none.")] = [],  # noqa: B006
    layer: Annotated[list[str], Query(max_length=20)] = [],  # noqa: B006
    loss: Annotated[bool, Query(description="What raises and lowers the loss instead.")] = False,
    sanity: Annotated[
        bool, Query(description="Whether to say how far the map can be trusted, which takes longer.")
    ] = True,
) -> Data[HeatMapAnswer]:
    """Return where the model looked in a sample, a map for each class and layer."""
    loaded = studio.populations.of(run, evaluation)
    asked = {"sample": sample, "method": method, "targets": target, "layers": layer, "loss": loss, "sanity": sanity}
    return Data(data=sample_heat_maps(studio.workers, loaded, run, asked))


@router.get("/similar")
def similar(
    studio: TheStudio,
    *,
    run: RunId,
    sample: Annotated[list[str], Query(min_length=1, max_length=500, description="One sample, or several.")],
    evaluation: EvaluationNumber = None,
    count: Annotated[int, Query(ge=1, le=200)] = 20,
    where: Where = [],  # noqa: B006
) -> Data[SimilarAnswer]:
    """Return the samples that the model sees most alike."""
    loaded = studio.populations.of(run, evaluation)
    found = similar_samples(
        studio.workers, loaded, studio.previews, run_id=run, samples=sample, count=count, where=where
    )
    return Data(data=found)
