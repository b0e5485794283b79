"""Which pages may ask: only the studio's own. Other sites a person visits can send requests here, and get nothing.

An Origin must be that of the Host header, on every route and method. What changes something needs proof besides that
it comes from our page or from a program: a page elsewhere cannot send JSON, or a header of its own, without asking
first, and nobody who asks is ever allowed to. Headers of proxies (X-Forwarded-...) are not trusted.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from cutaway.studio.answers.errors import Refusal
from cutaway.studio.guards.hosts import host_name
from cutaway.studio.guards.refusing import SAFE_METHODS, Refusing
from cutaway.studio.guards.routes import is_api, takes_file

__all__ = ["OwnOrigin", "is_same_origin"]

_PORTS = {"http": 80, "https": 443}
_HINT = "Open the studio's own page, or send the request from a program with `Content-Type: application/json`."


def is_same_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the same host name and port as a Host header.

    >>> is_same_origin("http://localhost:8600", "localhost:8600"), is_same_origin("null", "localhost:8600")
    (True, False)
    """
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in _PORTS or origin != f"{parts.scheme}://{parts.netloc}" or "@" in parts.netloc:
        return False
    default = _PORTS[parts.scheme]
    _, colon, digits = host.rpartition(":") if not host.endswith("]") else ("", "", "")
    asked = int(digits) if colon and digits.isdecimal() else default
    return host_name(parts.netloc) == host_name(host) is not None and (port or default) == asked


class OwnOrigin(Refusing):
    """Refuses what a page of another origin sends, and changes that nothing proves to be meant. Opens no WebSocket."""

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        if scope["type"] != "http" or "websocket" in headers.get("upgrade", "").lower():
            return Refusal(403, "no-websocket", "The studio opens no WebSocket.", "`GET api/live` streams what is new.")
        origins = headers.getlist("origin")
        if any(not is_same_origin(origin, headers.get("host", "")) for origin in origins):
            error = f"A page of {origins[0][:100]!r} may not ask this studio."
            return Refusal(403, "foreign-origin", error, _HINT)
        site = headers.get("sec-fetch-site")
        if scope["method"] in SAFE_METHODS:
            # A link from elsewhere may lead to the page; what it shows comes from its own requests.
            if is_api(scope) and site not in (None, "same-origin", "none"):
                return Refusal(403, "foreign-origin", "A page of another site may not ask this studio.", _HINT)
            return None
        # Neither can be sent by a page elsewhere that did not ask first.
        kinds = ("application/json", "application/octet-stream") if takes_file(scope) else ("application/json",)
        return _refusal_of_change(headers, proven=bool(origins) or site == "same-origin", site=site, kinds=kinds)


def _refusal_of_change(headers: Headers, *, proven: bool, site: str | None, kinds: tuple[str, ...]) -> Refusal | None:
    if site not in (None, "same-origin"):
        return Refusal(403, "foreign-origin", "A page of another site may not change anything here.", _HINT)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    is_program = headers.get("authorization", "").lower().startswith("bearer ")
    if kind in kinds or (not kind and not has_body and (proven or is_program)):
        return None
    said = "A file is sent as it is" if len(kinds) > 1 else "A change is sent as JSON"
    error = f"{said}, but this came as {kind[:100] or 'nothing'!r}."
    return Refusal(415, "not-json", error, f"Send it with `Content-Type: {kinds[-1]}`.")
