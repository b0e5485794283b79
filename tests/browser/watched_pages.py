"""Pages in a browser that are watched: what they complain of, and whom they call."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

__all__ = ["WatchedPages"]


# Said by the driver of a machine without a graphics card when a test takes a picture of a map: of the picture, not of
# the page, which reads nothing back.
OF_PICTURES = "GL Driver Message .*GPU stall due to ReadPixels"


class WatchedPages:
    """Opens pages. `complaints` has what went wrong on any of them; a test that ends with one fails.

    A complaint is an error or a warning on the console, an exception, a dialog, a request that got no answer, and
    any request to another host than that of the page. A test that means to make an error `expects` it.
    """

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._contexts: list[Any] = []
        self._expected = [re.compile(OF_PICTURES)]
        self._heard: list[str] = []

    def __call__(self, url: str, *, theme: str = "light", width: int = 1280, height: int = 800, **context: Any) -> Any:
        """Open an address in a new context of its own and return playwright's page; other settings are playwright's."""
        settings = {"reduced_motion": "reduce", **context}
        opened = self._browser.new_context(color_scheme=theme, viewport={"width": width, "height": height}, **settings)
        self._contexts.append(opened)
        page = opened.new_page()
        self._watch(page, url)
        page.goto(url)
        return page

    def expect(self, pattern: str) -> None:
        """Let a complaint pass that this regular expression finds."""
        self._expected.append(re.compile(pattern))

    @property
    def complaints(self) -> list[str]:
        """What went wrong and was not expected."""
        return [one for one in self._heard if not any(pattern.search(one) for pattern in self._expected)]

    def close(self) -> None:
        """Close every page; before its studio ends, or it would complain that nobody answers."""
        for context in self._contexts:
            context.close()
        self._contexts.clear()

    def _watch(self, page: Any, url: str) -> None:
        host = urlsplit(url).netloc

        def hear_console(message: Any) -> None:
            if message.type in ("error", "warning"):
                where = (message.location or {}).get("url", "")
                self._heard.append(f"console {message.type}: {message.text} {where}".rstrip())

        def hear_request(request: Any) -> None:
            asked = urlsplit(request.url)
            if asked.scheme not in ("data", "blob", "about") and asked.netloc != host:
                self._heard.append(f"request to another host: {request.url}")

        def hear_failure(request: Any) -> None:
            # Going to another address ends what is under way, the stream of events above all.
            if "ERR_ABORTED" not in (request.failure or "") and "NS_BINDING_ABORTED" not in (request.failure or ""):
                self._heard.append(f"request failed: {request.url}: {request.failure}")

        page.on("console", hear_console)
        page.on("pageerror", lambda error: self._heard.append(f"exception: {error}"))
        page.on("dialog", self._dismiss)
        page.on("request", hear_request)
        page.on("requestfailed", hear_failure)

    def _dismiss(self, dialog: Any) -> None:
        self._heard.append(f"dialog: {dialog.message}")
        dialog.dismiss()
