"""Jobs: started on the page, seen at work, ended, failed, lost; they outlive the page and the studio."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.looking import eventually
from tests.browser.studios import Shown, showing
from tests.browser.watched_pages import WatchedPages
from tests.unit.studio.evaluated import SLOW, evaluated_run

RUN = "insects"


@pytest.fixture(scope="module")
def insects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was evaluated with a binding that can be told to be slow."""
    pytest.importorskip("torch")
    return evaluated_run(tmp_path_factory.mktemp("insects"))


@pytest.fixture(scope="module")
def working(insects: Path, own_cache: None) -> Iterator[Shown]:
    """A studio over it."""
    with showing(insects.parent) as shown:
        yield shown


def start(studio: Shown, **job: Any) -> str:
    """Start a job and return its id."""
    answer = httpx.post(f"{studio.url}/api/jobs", json={"run": studio.id_of(RUN), **job}, timeout=60)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["data"]["id"])


def process_of(run: Path, job: str) -> int:
    """The process of a job, once it has said which it is."""
    file = run / "jobs" / job / "process.json"
    eventually(file.is_file)
    return int(json.loads(file.read_text("utf-8"))["pid"])


def is_gone(process: int) -> bool:
    """Whether a process has ended; one that nobody has asked for its end counts as that."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def listed(page: Any) -> Any:
    return page.get_by_role("table", name="Jobs").locator("tbody tr")


def lines(page: Any) -> Any:
    return page.get_by_role("region", name="Lines of the log")


def test_an_analysis_is_started_finishes_and_leads_to_what_it_made(
    open_page: WatchedPages, working: Shown, axe: Any
) -> None:
    page = open_page(f"{working.url}/jobs")
    expect(page.get_by_text("No jobs yet.")).to_be_visible()
    page.keyboard.press("n")
    form = page.get_by_role("dialog", name="Start a job")
    expect(form.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    form.get_by_label("Run", exact=True).fill("insec")
    form.get_by_role("button", name=re.compile(RUN)).click()
    form.get_by_label("Analysis").select_option("mislabeled")
    assert axe(page) == []
    form.get_by_role("button", name="Start", exact=True).click()
    expect(page).to_have_url(re.compile(r"/jobs/[\w-]+$"))
    first = page.url
    expect(page.get_by_role("heading", level=1)).to_have_text("Analysis: mislabeled")
    expect(page.get_by_role("status").filter(has_text="Finished.")).to_have_count(1)
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "100")
    expect(page.get_by_text("cutaway analyze")).to_be_visible()
    page.get_by_role("button", name="Again").click()
    expect(page).not_to_have_url(first)
    expect(page.get_by_role("status").filter(has_text="Finished.")).to_have_count(1)
    page.get_by_role("link", name="Open the labels").click()
    expect(page).to_have_url(re.compile("/insights.*tab=labels"))
    page.goto(f"{working.url}/jobs")
    expect(listed(page)).to_have_count(2)
    for row in (0, 1):
        expect(listed(page).nth(row)).to_contain_text("finished")
    expect(page.get_by_role("link", name="Open the labels")).to_have_count(2)


@pytest.mark.slow
def test_progress_and_log_come_and_a_cancelled_job_ends(
    open_page: WatchedPages, working: Shown, insects: Path, axe: Any, theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SLOW, "0.2")
    job = start(working, kind="evaluate")
    page = open_page(f"{working.url}/jobs/{job}", theme=theme)
    bar = page.get_by_role("progressbar")
    expect(bar).to_have_attribute("aria-valuetext", re.compile("percent|samples"))
    expect(page.get_by_text(re.compile(r"[\d ,.]+ of 330 samples"))).to_be_visible()
    page.reload()
    expect(bar).to_have_attribute("aria-valuetext", re.compile("percent|samples"))
    expect(page.get_by_role("link", name=re.compile("^Jobs.*1 running"))).to_be_visible()
    expect(page.get_by_text(re.compile(r"a second|one every")).first).to_be_visible()
    expect(page.get_by_text(re.compile(r" left$")).first).to_be_visible()
    # In the second theme it goes on where it was cancelled in the first.
    expect(lines(page)).to_contain_text(re.compile("No loss is bound|Going on with evaluation"))
    assert axe(page) == []
    process = process_of(insects, job)
    page.goto(f"{working.url}/jobs?state=going")
    expect(listed(page)).to_have_count(1)
    assert axe(page) == []
    page.get_by_role("button", name="Cancel Evaluation of insects").click()
    expect(page.get_by_text("No job matches.")).to_be_visible()
    page.goto(f"{working.url}/jobs/{job}")
    expect(page.get_by_text("Cancelled.").first).to_be_visible()
    expect(page.get_by_role("button", name="Again")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("^Open the"))).to_have_count(0)
    eventually(lambda: is_gone(process))


def test_a_job_that_fails_says_why_and_what_to_do(
    open_page: WatchedPages, working: Shown, insects: Path, axe: Any
) -> None:
    binding = insects.parents[1] / "binding"
    away = binding.rename(binding.with_name("away"))
    try:
        page = open_page(f"{working.url}/jobs/{start(working, kind='evaluate')}")
        expect(page.get_by_text("Failed.").first).to_be_visible()
        expect(page.get_by_text(re.compile("is gone")).first).to_be_visible()
        expect(page.get_by_text("Bring it back.").first).to_be_visible()
        expect(lines(page)).to_contain_text("is gone")
        assert axe(page) == []
        page.get_by_role("link", name="All jobs").click()
        expect(listed(page).first).to_contain_text("failed")
        expect(listed(page).first).to_contain_text("is gone")
    finally:
        away.rename(binding)


@pytest.mark.usefixtures("own_cache")
def test_a_job_outlives_its_studio_and_one_that_is_killed_is_lost(
    open_page: WatchedPages, insects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SLOW, "0.2")
    with showing(insects.parent) as first:
        job = start(first, kind="evaluate")
        process = process_of(insects, job)
        page = open_page(f"{first.url}/jobs/{job}")
        expect(page.get_by_role("progressbar")).to_be_visible()
        open_page.close()
    assert not is_gone(process)
    with showing(insects.parent) as second:
        page = open_page(f"{second.url}/jobs/{job}")
        expect(page.get_by_text(re.compile(r"[\d ,.]+ of 330 samples"))).to_be_visible()
        os.kill(process, signal.SIGKILL)
        expect(page.get_by_text("Its process ended unexpectedly").first).to_be_visible()
        page.get_by_role("link", name="All jobs").click()
        expect(listed(page).first).to_contain_text("lost")
        open_page.close()


def test_a_job_that_there_is_not_is_said(open_page: WatchedPages, working: Shown) -> None:
    open_page.expect("404")
    page = open_page(f"{working.url}/jobs/20260101-000000-00000000")
    expect(page.get_by_role("heading", level=1)).to_have_text("This job cannot be opened")
    expect(page.get_by_role("alert")).to_contain_text("20260101-000000-00000000")
    page.goto(f"{working.url}/jobs?state=lost&run=nobody")
    expect(page.get_by_text("No job matches.")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Show all")).click()
    expect(listed(page).first).to_be_visible()
