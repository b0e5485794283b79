"""Two runs on the same samples: what flipped for better and for worse, on one map."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from cutaway.studio.arrow import ArrowResponse
from cutaway.studio.errors_on_wire import Refusal
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire import Data, FlipsAnswer

__all__ = ["router"]

router = APIRouter(prefix="/compare", tags=["compare"])

Before = Annotated[str, Query(max_length=200, description="The run that is compared with.")]
After = Annotated[str, Query(max_length=200, description="The run that may be better.")]


@router.get("/samples")
def flips(studio: TheStudio, before: Before, after: After) -> Data[FlipsAnswer]:
    """Return what two runs' models say differently of the same samples, by their last evaluations."""
    raise Refusal(501, "not-built", "not built yet")


@router.get("/samples.arrow", response_class=ArrowResponse)
def flip_points(studio: TheStudio, before: Before, after: After) -> ArrowResponse:
    """Return the samples that both have, as Arrow: row, x, y of the map of `after`, flip, and the change of the loss."""
    raise Refusal(501, "not-built", "not built yet")
