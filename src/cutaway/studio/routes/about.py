"""What this studio is, and letting a person in."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from cutaway import __version__
from cutaway.studio.guards.tokens import COOKIE_SECONDS, Gate
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data
from cutaway.studio.wire.live import About, Login

__all__ = ["router"]

router = APIRouter(tags=["studio"])


@router.get("/about")
def about(studio: TheStudio) -> Data[About]:
    """Return what this studio looks at, and how far its first look is."""
    progress = studio.index.progress
    return Data(
        data=About(
            version=__version__,
            folder=studio.root.absolute().name or "/",
            runs=progress.total,
            indexing=progress,
            token=studio.gate is not None,
            read_only=studio.read_only,
        )
    )


@router.post("/login", status_code=204)
def login(studio: TheStudio, given: Login, request: Request, response: Response) -> None:
    """Exchange the token for a cookie that only this browser has; programs send it as a Bearer header instead."""
    if studio.gate is None:
        return
    studio.gate.take(given.token, request.client.host if request.client else "")
    _set_cookie(studio.gate, request, response, studio.gate.new_cookie(), COOKIE_SECONDS)


@router.post("/logout", status_code=204)
def logout(studio: TheStudio, request: Request, response: Response) -> None:
    """Forget the cookie."""
    if studio.gate is not None:
        _set_cookie(studio.gate, request, response, "", 0)


def _set_cookie(gate: Gate, request: Request, response: Response, value: str, seconds: int) -> None:
    response.set_cookie(
        gate.cookie_name,
        value,
        max_age=seconds,
        path=f"{request.scope.get('root_path', '')}/",
        httponly=True,
        samesite="strict",
        # Behind a proxy that speaks TLS only the page's own origin says so.
        secure=request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:"),
    )
