"""Puts the studio together: its routes, its guards and its page, as one ASGI application."""

from __future__ import annotations

from fastapi import FastAPI

from cutaway import __version__
from cutaway.studio.routes import about, findings, live, requests, run, runs, tensors
from cutaway.studio.the_studio import Studio
from cutaway.studio.wire import ErrorAnswer

__all__ = ["create_app"]


def create_app(studio: Studio) -> FastAPI:
    """Return the application that serves a studio."""
    app = FastAPI(
        title="Cutaway studio", version=__version__, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json"
    )
    app.state.studio = studio
    for part in (about, runs, run, tensors, findings, requests, live):
        app.include_router(part.router, prefix="/api", responses={"default": {"model": ErrorAnswer}})
    return app
