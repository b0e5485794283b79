"""Serves the built page: files by exact name from a listing made at the start, and `index.html` for its addresses.

No path from a request is ever joined with a folder. Without a built page it says how to build one; the API works.
"""

from __future__ import annotations

import gzip
import html
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cutaway.studio.answers.errors import Refusal, refuse
from cutaway.studio.guards.routes import is_api, route_of

__all__ = ["BUILD_HINT", "STATIC", "Bundle", "ThePage"]

STATIC = Path(__file__).parents[1] / "static"
BUILD_HINT = "Run `make ui` in a clone of Cutaway, or install it again where npm can be reached."
# What the build leaves beside the page: why there is none, and the digest of its sources, which is nobody's to read.
_MISSING, _BUILT_FROM = "missing.txt", "built-from.txt"
# The page of frozen copies, which is written into their folders and never served.
_FROZEN = "frozen/"
_FOREVER = "public, max-age=31536000, immutable"
# Some systems' tables say otherwise, and nosniff then stops the page.
_KINDS = {".js": "text/javascript", ".woff2": "font/woff2"}
# What an address of the page looks like. Nothing that begins with a dot, and no name of a file.
_ADDRESS = re.compile(r"/(?:[\w~:@=,+-][\w.~:@=,+-]*/)*(?:[\w~:@=,+-]+/?)?", re.ASCII)
_WITHOUT_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Cutaway studio</title></head>
<body><h1>The page is not built</h1>
<p>{hint}</p>
<p>The HTTP API works: <a href="{root}/api/openapi.json">what it has</a>.</p></body></html>
"""


@dataclass(frozen=True)
class _File:
    content: bytes
    zipped: bytes | None
    kind: str
    caching: str


@dataclass(frozen=True)
class Bundle:
    """The files of the built page by their addresses, in memory, as they were when it was loaded."""

    files: Mapping[str, _File]
    index: str | None
    missing: str = ""

    @classmethod
    def load(cls, folder: Path = STATIC) -> Bundle:
        """Read a folder that the build has written; where there is none, a bundle without a page."""
        files: dict[str, _File] = {}
        index = folder / "index.html"
        if not index.is_file():
            reason = folder / _MISSING
            return cls({}, None, reason.read_text("utf-8").strip() if reason.is_file() else "")
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).as_posix()
            # A link could lead anywhere.
            if path.is_symlink() or not path.is_file() or path.suffix == ".gz" or inside in ("index.html", _BUILT_FROM):
                continue
            if inside.startswith(_FROZEN):
                continue
            files[f"/{inside}"] = _file(path, hashed=inside.startswith("assets/"))
        return cls(files, index.read_text("utf-8"))

    @property
    def is_built(self) -> bool:
        """Whether there is a page."""
        return self.index is not None

    @property
    def why_not_built(self) -> str:
        """Why there is no page, where the build could say, and what to do about it."""
        return f"{self.missing} {BUILD_HINT}".strip()

    def page(self, root_path: str) -> str:
        """Return the page as it is below a root path."""
        root = html.escape(root_path, quote=True)
        if self.index is None:
            return _WITHOUT_PAGE.format(hint=html.escape(self.why_not_built), root=root)
        base = f'<base href="{root}/" />'
        found, count = re.subn(r"<base\b[^>]*>", lambda _: base, self.index, count=1)
        return found if count else self.index.replace("<head>", f"<head>{base}", 1)


class ThePage:
    """Answers every address that is not the API's: with a file of the bundle, or with the page."""

    def __init__(self, app: ASGIApp, bundle: Bundle, root_path: str) -> None:
        self._app = app
        self._bundle = bundle
        page = bundle.page(root_path).encode()
        self._page = _File(page, gzip.compress(page, mtime=0), "text/html; charset=utf-8", "no-cache")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is for the API, answer the rest."""
        if scope["type"] != "http" or is_api(scope):
            await self._app(scope, receive, send)
            return
        if scope["method"] not in ("GET", "HEAD"):
            error = "The page is read with GET."
            await refuse(Refusal(405, "method-not-allowed", error), scope, receive, send)
            return
        route = route_of(scope)
        file = self._bundle.files.get(route)
        if file is None and not route.startswith("/assets/") and _ADDRESS.fullmatch(route):
            file = self._page
        if file is None:
            error = "There is no such file in the page."
            await refuse(Refusal(404, "not-found", error, "Load the page again."), scope, receive, send)
            return
        await _response(file, Headers(scope=scope))(scope, receive, send)


def _response(file: _File, asked: Headers) -> Response:
    headers = {"Cache-Control": file.caching, "Vary": "Accept-Encoding"}
    accepted = {part.partition(";")[0].strip() for part in asked.get("accept-encoding", "").split(",")}
    if file.zipped is not None and "gzip" in accepted:
        return Response(file.zipped, media_type=file.kind, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.content, media_type=file.kind, headers=headers)


def _file(path: Path, *, hashed: bool) -> _File:
    content = path.read_bytes()
    kind = _KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    twin = path.with_name(f"{path.name}.gz")
    zipped = twin.read_bytes() if twin.is_file() and not twin.is_symlink() else gzip.compress(content, mtime=0)
    caching = _FOREVER if hashed else "no-cache"
    return _File(content, zipped if len(zipped) < len(content) else None, kind, caching)
