"""Which part of the studio a request is for, and where the studio lies under its host name."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["UnderRootPath", "is_api", "route_of", "takes_file"]

_TAKES_FILE = re.compile(r"/api/runs/[^/]+/model/try")


def route_of(scope: Scope) -> str:
    """Return the decoded path of a request below the studio's root path."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] or "/" if path == root or path.startswith(f"{root}/") else path


def is_api(scope: Scope) -> bool:
    """Whether a request is for the HTTP API, and not for the page."""
    route = route_of(scope)
    return route == "/api" or route.startswith("/api/")


def takes_file(scope: Scope) -> bool:
    """Whether the body of a request is a file as it is, `application/octet-stream`, and may be as large as one."""
    return scope["type"] == "http" and scope["method"] == "POST" and bool(_TAKES_FILE.fullmatch(route_of(scope)))


class UnderRootPath:
    """Lets the studio lie below a path of its host name, whether the proxy before it cuts that path off or not."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app = app
        self._root = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as one below the root path."""
        if self._root and scope["type"] != "lifespan":
            path = str(scope["path"])
            inside = path == self._root or path.startswith(f"{self._root}/")
            scope = {**scope, "root_path": self._root, "path": path if inside else self._root + path}
        await self._app(scope, receive, send)
