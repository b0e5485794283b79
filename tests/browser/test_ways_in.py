"""How one comes to a studio: with a token, below a path, by a plain host name; and who does not come in at all."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from cutaway.studio.guards.tokens import Gate
from cutaway.studio.serving.app import Guards
from tests.browser.looking import settled
from tests.browser.studios import Shown, showing
from tests.browser.watched_pages import WatchedPages

TOKEN = "browser-token-of-32-characters-!"
PREFIX = "/lab/studio"
HOST = "gpu-box"


@pytest.fixture(scope="module")
def few_runs(made_runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few") / "runs"
    for run in ("healthy", "sick"):
        shutil.copytree(made_runs / run, folder / run)
    return folder


@pytest.fixture(scope="module")
def gated(few_runs: Path, own_cache: None) -> Iterator[Shown]:
    with showing(few_runs, gate=Gate(TOKEN)) as studio:
        yield studio


def test_a_token_is_asked_for_once_and_kept_where_no_script_finds_it(open_page: WatchedPages, gated: Shown) -> None:
    open_page.expect("401")
    asked = gated.address("healthy")
    page = open_page(asked)
    expect(page.get_by_role("heading", name="This studio needs a token")).to_be_visible()
    page.get_by_label("Token").fill("a wrong token of some length")
    page.get_by_role("button", name="Enter").click()
    expect(page.get_by_role("alert")).to_contain_text("not the token")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Enter").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("healthy")
    # Where one wanted to go, and without the token in the address.
    assert page.url == asked
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert TOKEN not in cookie["value"]
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
    assert TOKEN not in kept
    assert cookie["value"] not in kept
    page.reload()
    expect(page.get_by_role("img", name=re.compile("^Chart of loss,"))).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_role("link", name="sick", exact=True)).to_be_visible()
    expect(page.locator("header").get_by_role("status")).to_have_text("Live")


def test_without_the_token_nothing_of_a_run_is_seen(open_page: WatchedPages, gated: Shown) -> None:
    open_page.expect("401")
    page = open_page(gated.address("healthy", "config"))
    expect(page.get_by_label("Token")).to_be_visible()
    assert "healthy" not in page.content()


@pytest.mark.usefixtures("own_cache")
def test_below_a_path_everything_works(open_page: WatchedPages, few_runs: Path) -> None:
    asked: list[str] = []
    with showing(few_runs, guards=Guards(root_path=PREFIX)) as studio:
        page = open_page(studio.address())
        page.on("request", lambda request: asked.append(request.url))
        page.get_by_role("link", name="sick", exact=True).click()
        expect(page).to_have_url(studio.address("sick"))
        expect(page.get_by_role("img", name=re.compile("^Chart of loss,"))).to_be_visible()
        page.get_by_role("navigation", name="Run").get_by_role("link", name="Samples").click()
        picture = page.get_by_role("img", name="Sample training/").first
        expect(picture).to_be_visible()
        assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") == 8
        expect(page.locator("header").get_by_role("status")).to_have_text("Live")
        # A link to somewhere inside, opened by somebody else.
        other = open_page(studio.address("healthy", "tensors", name="Sequential_conv1.weight"))
        expect(other.get_by_role("region", name="Tensor Sequential_conv1.weight")).to_be_visible()
        other.get_by_role("link", name="Cutaway, all runs").click()
        expect(other.get_by_role("table", name="Runs")).to_be_visible()
        assert all(url.startswith(studio.url + "/") for url in asked)
        open_page.close()


@pytest.mark.usefixtures("own_cache")
def test_a_plain_host_name_is_enough(playwright: Any, browser_path: Path, few_runs: Path) -> None:
    """No secure context: no clipboard of the browser, no random ids of its own."""
    browser = playwright.chromium.launch(
        executable_path=str(browser_path),
        chromium_sandbox=False,
        args=[f"--host-resolver-rules=MAP {HOST} 127.0.0.1"],
    )
    pages = WatchedPages(browser)
    # Chromium says at each page that this header counts for nothing here; behind a proxy that speaks TLS it does.
    pages.expect("Cross-Origin-Opener-Policy header has been ignored")
    with showing(few_runs, guards=Guards(allowed_hosts=(HOST,))) as studio:
        page = pages(studio.address("healthy", "config").replace("127.0.0.1", HOST))
        assert page.evaluate("[isSecureContext, navigator.clipboard === undefined]") == [False, True]
        command = page.get_by_role("button", name=re.compile("^Copy cutaway watch"))
        command.click()
        expect(page.get_by_text("Copied").first).to_be_attached()
        search = page.get_by_label("Search the config")
        search.focus()
        page.keyboard.press("Control+v")
        expect(search).to_have_value(re.compile("^cutaway watch .*healthy"))
        page.goto(studio.address("sick").replace("127.0.0.1", HOST))
        expect(page.get_by_role("img", name=re.compile("^Chart of loss,"))).to_be_visible()
        expect(page.locator("header").get_by_role("status")).to_have_text("Live")
        pages.close()
    browser.close()
    assert pages.complaints == []


def test_every_answer_has_the_policy_and_none_comes_from_elsewhere(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(f"{studio.url}/nowhere")
    answers: list[Any] = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108 - playwright takes no built-in
    for tab in ("", "tensors", "samples", "findings"):
        page.goto(studio.address("sick", tab))
        expect(page.get_by_role("heading", level=1)).to_have_text("sick")
        settled(page)
    kinds = {answer.headers.get("content-type", "").partition(";")[0] for answer in answers}
    assert {"text/html", "text/javascript", "text/css", "application/json", "image/png"} <= kinds
    for answer in answers:
        policy = answer.headers.get("content-security-policy", "")
        assert "default-src 'none'" in policy, answer.url
        assert "unsafe" not in policy, answer.url
        assert answer.url.startswith(studio.url)


class Framing(BaseHTTPRequestHandler):
    """A page elsewhere that puts the studio into a frame."""

    target = ""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f"<!doctype html><iframe src='{self.target}'></iframe>".encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def test_no_other_page_puts_it_into_a_frame(browser: Any, studio: Shown) -> None:
    Framing.target = studio.address()
    with ThreadingHTTPServer(("127.0.0.1", 0), Framing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        refused: list[str] = []
        page.on("console", lambda message: refused.append(message.text))
        page.goto(f"http://127.0.0.1:{server.server_port}/", wait_until="load")
        framed = page.frames[1]
        framed.wait_for_load_state()
        assert framed.locator("header").count() == 0
        assert any("frame" in one.lower() for one in refused)
        page.close()
        server.shutdown()
