"""The watching of pages itself: a page that does something wrong is noticed, a good one is left in peace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.browser.axe import AXE
from tests.browser.watched_pages import WatchedPages

PAGE = "<!doctype html><html lang='en'><head><title>Page</title></head><body><main><h1>Page</h1>{}</main></body></html>"
# As the studio's: nothing inline, nothing from elsewhere, nothing evaluated.
POLICY = "default-src 'self'"
SCRIPTS = {
    "quiet": "document.title = 'Quiet';",
    "error": "console.error('it broke');",
    "throws": "throw new Error('thrown');",
    "calls": "fetch('http://localhost:9/').catch(() => 0);",
    "calls-freely": "fetch('http://localhost:9/').catch(() => 0);",
}


class Handler(BaseHTTPRequestHandler):
    """Serves a page with a button, named by the query, and the script that the path names."""

    def do_GET(self) -> None:
        name = self.path.strip("/").partition("?")[0]
        if name.endswith(".js"):
            self.answer(SCRIPTS.get(name.removesuffix(".js")), "text/javascript")
        elif name == "favicon.ico":
            self.answer("", "image/x-icon")
        else:
            button = f"<button>{self.path.partition('?')[2]}</button>"
            self.answer(PAGE.format(f"{button}<script src='/{name}.js'></script>"), "text/html")

    def answer(self, body: str | None, kind: str) -> None:
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", kind)
        if "freely" not in self.path:
            self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write((body or "").encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def complaints_of(browser: Any, url: str) -> list[str]:
    pages = WatchedPages(browser)
    pages(url).wait_for_timeout(200)
    pages.close()
    return pages.complaints


def test_a_good_page_has_nothing_to_complain_of(open_page: WatchedPages, address: str, theme: str) -> None:
    page = open_page(address + "quiet?ok", theme=theme)
    assert page.title() == "Quiet"
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (theme == "dark")


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("error", "console error: it broke"),
        ("throws", "exception: thrown"),
        ("calls", "violates the following Content Security Policy directive"),
        ("calls-freely", "request to another host: http://localhost:9/"),
        ("missing", "404"),
    ],
)
def test_what_goes_wrong_is_noticed(browser: Any, address: str, script: str, complaint: str) -> None:
    assert complaint in "\n".join(complaints_of(browser, f"{address}{script}"))


def test_what_is_expected_is_no_complaint(browser: Any, address: str) -> None:
    pages = WatchedPages(browser)
    pages.expect("it broke")
    pages(address + "error").wait_for_timeout(200)
    pages.close()
    assert pages.complaints == []


def test_axe_sees_through_a_strict_policy(
    open_page: WatchedPages, address: str, axe: Callable[[Any], list[str]]
) -> None:
    if not AXE.exists():
        pytest.skip("ui/node_modules is not there; `make setup` installs it")
    assert axe(open_page(address + "quiet?ok")) == []
    (finding,) = axe(open_page(address + "quiet"))
    assert finding.startswith("button-name (critical)")
