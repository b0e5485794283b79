"""Two runs on the same samples: what flipped for better and for worse, on one map."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from cutaway.studio.answers.arrow import ArrowResponse, arrow_answer
from cutaway.studio.flips import flip_table, flips_answer
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data
from cutaway.studio.wire.runs import FlipsAnswer

__all__ = ["router"]

router = APIRouter(prefix="/compare", tags=["compare"])

Before = Annotated[str, Query(max_length=200, description="The run that is compared with.")]
After = Annotated[str, Query(max_length=200, description="The run that may be better.")]


@router.get("/samples")
def flips(studio: TheStudio, before: Before, after: After) -> Data[FlipsAnswer]:
    """Return what two runs' models say differently of the same samples, by their last evaluations."""
    names = (studio.index.row_of(before).name, studio.index.row_of(after).name)
    sides = studio.populations.of(before), studio.populations.of(after)
    return Data(data=flips_answer(*sides, names, studio.previews))


@router.get("/samples.arrow", response_class=ArrowResponse)
def flip_points(studio: TheStudio, before: Before, after: After) -> ArrowResponse:
    """Return the samples of `before` as Arrow: row, x and y on its map, flip, and how much the loss grew."""
    return arrow_answer(flip_table(studio.populations.of(before), studio.populations.of(after)))
