"""The shapes that every answer of the HTTP API has: the envelope, a page of rows, and an error."""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

__all__ = ["Data", "ErrorAnswer", "Number", "Page", "Severity", "State", "Verdict", "Wire"]

T = TypeVar("T")
State = Literal["starting", "running", "paused", "finished", "failed", "ended", "lost", "crashed", "unknown"]
Verdict = Literal["healthy", "warnings", "sick", "not checked"]
Severity = Literal["info", "warning", "error"]


def _finite(value: float | None) -> float | None:
    # JSON has no NaN; whether there was one is said by a count or a finding, never by a number that cannot be read.
    return value if value is not None and value - value == 0 else None


Number = Annotated[float | None, AfterValidator(_finite)]


class Wire(BaseModel):
    """A value on the wire: frozen, with no fields but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Data(Wire, Generic[T]):
    """The one shape of an answer."""

    ok: Literal[True] = True
    data: T


class Page(Wire, Generic[T]):
    """The one shape of an answer with many rows: `total` are there, these are `limit` of them from `offset` on."""

    ok: Literal[True] = True
    data: list[T]
    total: int
    offset: int
    limit: int


class ErrorAnswer(Wire):
    """The one shape of what went wrong: what happened, a word for programs, and what to do next."""

    ok: Literal[False] = False
    error: str
    code: str
    hint: str
    status: int
    request: str = Field(description="The id of this request, which the server's log has too.")
