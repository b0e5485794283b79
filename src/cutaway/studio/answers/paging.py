"""The one pagination of the HTTP API: `offset` and `limit` in, a `Page` out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from cutaway.studio.wire.base import Page

__all__ = ["Limit", "Offset", "page_of"]

T = TypeVar("T")

Offset = Annotated[int, Query(ge=0, le=2**53, description="How many rows to leave out at the start.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many rows to return at most.")]


def page_of(rows: Sequence[T], offset: int, limit: int) -> Page[T]:
    """Return a part of rows that are all there."""
    return Page(data=list(rows[offset : offset + limit]), total=len(rows), offset=offset, limit=limit)
