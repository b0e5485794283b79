"""A studio that is killed while pages decide, select, write tests and start jobs: what it answered is there.

No file is torn. Jobs go on without it; those that it was to start are said to be lost.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cutaway.run import Run
from cutaway.run.decisions import read_decisions
from cutaway.run.layout import TESTS_FILE
from cutaway.run.selections import selections
from cutaway.run.slice_tests import read_tests
from tests.nursery import Nursery
from tests.unit.studio.a_population import make
from tests.unit.studio.one_run import Asked, studio_of

pytestmark = pytest.mark.faults

ANALYSES = ("confusion", "outliers", "duplicates", "ambiguous")
PATIENCE = 90.0


@pytest.fixture(scope="module")
def studios() -> Iterator[Nursery]:
    with Nursery("tests.faults.studio_jobs") as nursery:
        yield nursery


class Pages:
    """Pages that change one run over HTTP, each thing under a name of its own, and remember what was answered."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._next = 0
        self._lock = threading.Lock()
        self.heard = threading.Event()
        self.refused: list[dict[str, Any]] = []
        self.answered: dict[str, list[str]] = {"decide": [], "select": [], "test": [], "job": []}

    def change(self, port: int) -> list[threading.Thread]:
        """Begin to change things until the studio is gone."""
        self.heard.clear()
        threads = [threading.Thread(target=self._keep_on, args=(what, port)) for what in self.answered]
        for one in threads:
            one.start()
        return threads

    def _keep_on(self, what: str, port: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        headers = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{port}"}
        try:
            while True:
                with self._lock:
                    number, self._next = self._next, self._next + 1
                path, name, body = self._asked(what, number)
                connection.request("POST", path, json.dumps(body), headers)
                answer = connection.getresponse()
                told = json.loads(answer.read())
                if answer.status >= 300:
                    self.refused.append(told)
                else:
                    self.answered[what].append(told["data"]["id"] if what == "job" else name)
                    self.heard.set()
                # Jobs are whole processes, which outlive the studio: one or two of its life are enough.
                time.sleep(0.5 if what == "job" else 0)
        except (OSError, http.client.HTTPException, ValueError):
            return  # it was killed
        finally:
            connection.close()

    def _asked(self, what: str, number: int) -> tuple[str, str, dict[str, Any]]:
        here = f"/api/runs/{self._run}"
        if what == "decide":
            sample = f"training/{number % 6000}"
            return f"{here}/decisions", sample, {"sample": sample, "decision": "reject"}
        if what == "select":
            name = f"selection {number % 500}"
            return f"{here}/selections", name, {"name": name, "selected": {"where": ["loss > 1"]}}
        if what == "test":
            name = f"test {number % 200}"
            return f"{here}/tests", name, {"name": name, "line": "accuracy at least 0.1"}
        wanted = {"kind": "analyze", "run": self._run, "what": ANALYSES[number % len(ANALYSES)]}
        return "/api/jobs", "", wanted


@pytest.mark.slow
def test_what_a_killed_studio_answered_is_there_and_jobs_go_on(studios: Nursery, tmp_path: Path, kills: int) -> None:
    chance = random.Random(11)
    run = make(tmp_path / "runs", "made", 8000, analyses=False)
    with studio_of(tmp_path / "runs") as asked:
        pages = Pages(asked.id_of("made"))
    killed = 0
    # Until each kind of thing was answered at least once, which takes a busy machine more studios.
    while killed < kills or not all(pages.answered.values()):
        killed += 1
        studio = studios.start("serve", root=str(tmp_path / "runs"))
        changing = pages.change(studio.report())
        # Its first answers take longer, and are of interest too.
        pages.heard.wait(0 if chance.random() < 0.2 else 30)
        time.sleep(chance.uniform(0, 0.4))
        studio.kill()
        for one in changing:
            one.join(60)
            assert not one.is_alive()
        assert_kept(Run.open(run.path), pages)
    assert pages.refused == []
    with studio_of(tmp_path / "runs") as asked:
        assert_jobs_end(asked, set(pages.answered["job"]))


def assert_kept(run: Run, pages: Pages) -> None:
    """Everything that was answered is there, and every file can be read."""
    assert set(pages.answered["decide"]) <= read_decisions(run).words().keys()
    kept = selections(run)
    assert kept.notes == []
    assert set(pages.answered["select"]) <= {one.name for one in kept.selections}
    assert set(pages.answered["test"]) <= {one.name for one in read_tests(run.path / TESTS_FILE)}


def assert_jobs_end(asked: Asked, started: set[str]) -> None:
    """Every job that was answered is known, and ends: finished by its own process, or lost with its studio."""
    until = time.monotonic() + PATIENCE
    while True:
        rows = {one["id"]: one for one in asked.client.get("/api/jobs", params={"limit": 1000}).json()["data"]}
        states = {rows[one]["state"] for one in started if one in rows}
        if not states & {"waiting", "running"}:
            break
        assert time.monotonic() < until, states
        time.sleep(0.2)
    # Of the jobs that have ended the oldest are removed.
    known = [rows[one] for one in started if one in rows]
    assert known
    assert {one["state"] for one in known} <= {"finished", "failed", "lost"}
    assert any(one["state"] == "finished" for one in known), known[:3]
    assert all(one["error"] and one["hint"] for one in known if one["state"] == "lost")
