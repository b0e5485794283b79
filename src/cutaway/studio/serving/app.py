"""Puts the studio together: its routes, its guards and its page, as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI

from cutaway import __version__
from cutaway.studio.answers.errors import NothingUnforeseen, answer_errors
from cutaway.studio.guards.bounds import MOST_REQUESTS, BoundedBodies, BoundedCrowd
from cutaway.studio.guards.headers import SafeHeaders
from cutaway.studio.guards.hosts import KnownHosts
from cutaway.studio.guards.origins import OwnOrigin
from cutaway.studio.guards.refusing import ReadOnly
from cutaway.studio.guards.routes import UnderRootPath
from cutaway.studio.guards.tokens import TokenAsked
from cutaway.studio.routes import (
    about,
    findings,
    flips,
    insights,
    jobs,
    live,
    models,
    population,
    run,
    runs,
    sample,
    tensors,
)
from cutaway.studio.serving.page import Bundle, ThePage
from cutaway.studio.the_studio import Studio
from cutaway.studio.wire.base import ErrorAnswer

__all__ = ["Guards", "create_app"]

_PARTS = (
    about,
    runs,
    run,
    tensors,
    findings,
    live,
    population,
    sample,
    models,
    insights,
    jobs,
    flips,
)


@dataclass(frozen=True, kw_only=True)
class Guards:
    """What a studio lets in: the host it is bound to, other names it answers to, where it lies, and its bounds."""

    host: str = "127.0.0.1"
    allowed_hosts: tuple[str, ...] = ()
    root_path: str = ""
    body_seconds: float = 10.0
    most_requests: int = MOST_REQUESTS


def create_app(studio: Studio, *, guards: Guards | None = None, bundle: Bundle | None = None) -> FastAPI:
    """Return the application that serves a studio; the page is the built one unless another is given."""
    app = FastAPI(
        title="Cutaway studio",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        # An address that almost fits is wrong: a redirect would name the host that was asked for.
        redirect_slashes=False,
        lifespan=_life,
    )
    app.state.studio = studio
    for part in _PARTS:
        app.include_router(part.router, prefix="/api", responses={"default": {"model": ErrorAnswer}})
    answer_errors(app)
    _stand_guard(app, studio, guards or Guards(), bundle if bundle is not None else Bundle.load())
    return app


def _stand_guard(app: FastAPI, studio: Studio, guards: Guards, bundle: Bundle) -> None:
    # The last that is added sees a request first.
    app.add_middleware(ThePage, bundle=bundle, root_path=guards.root_path)
    if studio.read_only:
        app.add_middleware(ReadOnly)
    app.add_middleware(BoundedBodies, seconds=guards.body_seconds)
    app.add_middleware(TokenAsked, gate=studio.gate)
    app.add_middleware(OwnOrigin)
    app.add_middleware(KnownHosts, host=guards.host, allowed=guards.allowed_hosts)
    app.add_middleware(BoundedCrowd, most=guards.most_requests)
    app.add_middleware(NothingUnforeseen)
    app.add_middleware(SafeHeaders)
    app.add_middleware(UnderRootPath, root_path=guards.root_path)


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.studio.close()
