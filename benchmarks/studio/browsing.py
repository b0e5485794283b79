"""Opens pages in a headless Chromium and says when something useful was on them, counted from the navigation."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from scripts.find_browser import find_or_install

__all__ = ["Browsing", "PageFailed", "open_browser"]

# Looks once a frame, from before the page's own scripts on; `performance.now` counts from the navigation.
WATCH = """
(() => {
  const seen = () => { try { return (%s)(); } catch { return false; } };
  const look = () => {
    if (!seen()) return requestAnimationFrame(look);
    // What is in the document now is on the screen with the next frame.
    requestAnimationFrame(() => { window.__useful = performance.now(); });
  };
  requestAnimationFrame(look);
})()
"""
# Does something, then looks once a frame.
AFTER = """
() => new Promise((done) => {
  const begin = performance.now();
  (%s)();
  const look = () => {
    if (!(%s)()) return requestAnimationFrame(look);
    requestAnimationFrame(() => done(performance.now() - begin));
  };
  requestAnimationFrame(look);
})
"""
PATIENCE = 60.0


class PageFailed(Exception):
    """A page did not become useful; the message has what it said."""


class Browsing:
    """A browser. Every visit is one by a person who was never here: a context of its own, with nothing cached."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    def milliseconds(self, url: str, useful: str) -> float:
        """Open an address and return when the function `useful` (its source) was true in it."""
        with self.visit(url, useful) as (_, found):
            return found

    @contextlib.contextmanager
    def visit(self, url: str, useful: str) -> Iterator[tuple[Any, float]]:
        """The same, with the page left open."""
        context = self._browser.new_context(viewport={"width": 1280, "height": 800})
        try:
            page = context.new_page()
            said: list[str] = []
            page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
            page.add_init_script(WATCH % useful)
            page.goto(url, wait_until="commit")
            yield page, self._when(page, said)
        finally:
            context.close()

    @staticmethod
    def _when(page: Any, said: list[str]) -> float:
        end = time.monotonic() + PATIENCE
        # Not `wait_for_function`, which evaluates a text inside the page: our policy forbids that, rightly.
        while (found := page.evaluate("window.__useful ?? null")) is None:
            if time.monotonic() > end:
                told = said[0] if said else page.title()
                message = f"the page never became useful: {told}"
                raise PageFailed(message)
            page.wait_for_timeout(20)
        return float(found)

    @staticmethod
    def milliseconds_until(page: Any, act: str, useful: str) -> float:
        """Do something on an open page (the source of a function) and return how long until `useful` holds."""
        return float(page.evaluate(AFTER % (act, useful)))


@contextlib.contextmanager
def open_browser() -> Iterator[Browsing]:
    """Start the browser that the tests use."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_or_install()), args=["--no-sandbox"])
        try:
            yield Browsing(browser)
        finally:
            browser.close()
