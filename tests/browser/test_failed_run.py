"""The pages of a training that an exception ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from cutaway.run import RunState
from cutaway.run.control import Reply, Request, answer, ask
from cutaway.run.failure import TrainingFailure
from cutaway.studio.serving.page import STATIC
from cutaway.testing.rules import ScriptedRun
from tests.browser.studios import Shown, showing
from tests.browser.watched_pages import WatchedPages

SAID = "`lr` must be finite"
TRACEBACK = f'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\nValueError: {SAID}'


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """A studio over a training that failed, and one that did not."""
    if not (STATIC / "index.html").is_file():
        pytest.skip("the page is not built; `make ui` builds it")
    folder = tmp_path_factory.mktemp("endings")
    for name, state in (("failed", RunState.FAILED), ("finished", RunState.FINISHED)):
        run = ScriptedRun()
        for step in range(3):
            run.step(scalars={"loss": 1.0 / (1 + step)})
        written = run.write(folder / name)
        _, lease = written.begin_attempt()
        stop = Request("stop", "train", "anna", "")
        ask(written.storage, stop)
        answer(written.storage, stop, Reply("delivered", "add `if hook.should_stop: break` to it", 1))
        failure = TrainingFailure("ValueError", SAID, TRACEBACK) if state is RunState.FAILED else None
        lease.release(state, failure)
    with showing(folder) as served:
        yield served


@pytest.mark.parametrize("width", [390, 1280])
def test_its_traceback_is_one_click_away(open_page: WatchedPages, shown: Shown, width: int) -> None:
    page = open_page(shown.address("failed"), width=width)
    expect(page.get_by_text("ValueError: lr must be finite; everything up to step 2 is here")).to_be_visible()
    expect(page.locator("code").filter(has_text="lr")).to_be_visible()
    page.get_by_text("Traceback of the ValueError").click()
    expect(page.locator("pre").filter(has_text="line 7, in <module>")).to_have_text(TRACEBACK)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_one_that_finished_has_none(open_page: WatchedPages, shown: Shown) -> None:
    page = open_page(shown.address("finished"))
    expect(page.get_by_text("Completed normally")).to_be_visible()
    expect(page.get_by_text("Traceback of the")).to_have_count(0)


def test_what_became_of_a_request_shows_code_as_code(open_page: WatchedPages, shown: Shown) -> None:
    page = open_page(shown.address("finished", "steering"))
    row = page.get_by_role("region", name="Requests").get_by_role("row").filter(has_text="delivered")
    expect(row.locator("code")).to_have_text("if hook.should_stop: break")
    expect(row).not_to_contain_text("`")
