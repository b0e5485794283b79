"""Every route of the studio, as its own schema lists them: a new one is covered by these tests by itself."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from cutaway.studio.guards.bounds import MOST_BYTES, MOST_FILE_BYTES
from cutaway.studio.guards.routes import takes_file
from cutaway.studio.serving.app import create_app
from cutaway.studio.the_studio import Studio

__all__ = ["CHANGING", "READING", "ROUTES", "Route", "schema"]

# What a required parameter is asked with, by its name.
VALUES = {
    "series": "loss@TRAIN",
    "name": "x",
    "sample": "1",
    "step": "0",
    "topic": "runs",
    "finding": "x",
    "column": "loss",
    "metric": "x",
    "job": "x",
    "before": "x",
    "after": "y",
}


@dataclass(frozen=True)
class Route:
    """One method of one path, with what it needs to be asked."""

    method: str
    path: str
    query: tuple[str, ...]
    parameters: tuple[str, ...]
    takes_json: bool = False

    @property
    def most_bytes(self) -> int:
        """How large a body may be: a file where it takes one."""
        return MOST_FILE_BYTES if takes_file({"type": "http", "method": self.method, "path": self.path}) else MOST_BYTES

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def address(self, run: str, **path: str) -> str:
        """Return where to ask, with everything that is required; path parameters are escaped."""
        values = {"run": run, **VALUES, **path}
        at = self.path.format(**{name: quote(values[name], safe="") for name in self.parameters})
        query = urlencode([(name, values[name]) for name in self.query])
        return f"{at}?{query}" if query else at


def schema() -> dict[str, Any]:
    """Return the OpenAPI schema of the application."""
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio.open(Path(folder))
        try:
            return create_app(studio).openapi()
        finally:
            studio.close()


def _routes() -> list[Route]:
    found = [Route("GET", "/api/openapi.json", (), ())]
    for path, methods in schema()["paths"].items():
        for method, about in methods.items():
            asked = about.get("parameters", [])
            query = tuple(one["name"] for one in asked if one["in"] == "query" and one.get("required"))
            inside = tuple(one["name"] for one in asked if one["in"] == "path")
            takes_json = "application/json" in about.get("requestBody", {}).get("content", {})
            found.append(Route(method.upper(), path, query, inside, takes_json))
    return found


ROUTES = _routes()
CHANGING = [route for route in ROUTES if route.method not in ("GET", "HEAD")]
READING = [route for route in ROUTES if route.method == "GET" and route.path != "/api/live"]
