"""The model of an evaluation: what it is, whether it can be asked, and what it says to an input."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool

from cutaway.studio.models import model_detail, model_state, try_file
from cutaway.studio.routes.population import EvaluationNumber
from cutaway.studio.routes.runs import RunId
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data
from cutaway.studio.wire.models import ModelDetail, ModelState, Tried

__all__ = ["router"]

router = APIRouter(prefix="/runs/{run}/model", tags=["model"])


@router.get("")
def show_model(studio: TheStudio, run: RunId, evaluation: EvaluationNumber = None) -> Data[ModelDetail]:
    """Return the model of an evaluation: formats, inputs, outputs and layers."""
    return Data(data=model_detail(studio.workers, studio.populations.of(run, evaluation), run))


@router.post("/start")
def start_model(studio: TheStudio, run: RunId, evaluation: EvaluationNumber = None) -> Data[ModelState]:
    """Open the model in its own process, where that is not done yet, and say how it is; does not wait for it."""
    return Data(data=model_state(studio.workers.start(run, studio.populations.of(run, evaluation).number)))


@router.post("/try")
async def try_model(
    studio: TheStudio,
    *,
    run: RunId,
    request: Request,
    evaluation: EvaluationNumber = None,
    name: Annotated[str, Query(max_length=200, description="The name of the file.")] = "",
    target: Annotated[str, Query(max_length=2000, description="The class to explain.")] = "",
) -> Data[Tried]:
    """Ask the model about a file that is sent as the body: a picture, an array (`.npy`) or a text."""
    body = await request.body()

    def ask() -> Tried:
        loaded = studio.populations.of(run, evaluation)
        return try_file(studio.workers, loaded, studio.previews, run_id=run, body=body, name=name, target=target)

    return Data(data=await run_in_threadpool(ask))
