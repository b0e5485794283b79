"""Jobs over HTTP with real processes: started once, told by files, ended, killed, and outliving their server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutaway.run import Run
from cutaway.run.command_words import run_word
from cutaway.run.evaluations import evaluations
from cutaway.run.jobs import job_ids, read_job
from cutaway.run.process import is_running
from cutaway.studio.flips import kept_comparison
from tests.unit.studio.evaluated import SLOW, cancel, row, start, until
from tests.unit.studio.one_run import Asked, studio_of


@pytest.fixture
def asked(run: Path) -> Iterator[Asked]:
    with studio_of(run.parent) as studio:
        yield studio
        _end_all(studio)


def _end_all(studio: Asked) -> None:
    """Leave no process behind, whatever a test found."""
    for one in studio.client.get("/api/jobs").json()["data"]:
        if one["state"] in ("waiting", "running"):
            cancel(studio, one["id"])
            until(studio, one["id"], "cancelled", "finished", "failed", "lost")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an evaluation take some seconds."""
    monkeypatch.setenv(SLOW, "0.03")


def _process(run: Path, job: str) -> int:
    found = read_job(Run.open(run).storage, job)
    assert found is not None
    assert found.process is not None
    return int(found.process["pid"])


def _until_it_evaluates(asked: Asked, job: str) -> None:
    end = time.monotonic() + 60
    while row(asked, job)["stage"] != "evaluating" or not row(asked, job)["done"]:
        assert time.monotonic() < end, row(asked, job)
        time.sleep(0.05)


def _until_it_is_gone(pid: int) -> None:
    end = time.monotonic() + 60
    while is_running(pid):
        assert time.monotonic() < end
        time.sleep(0.05)


class TestWhatAJobDoes:
    def test_an_analysis_is_made_and_kept(self, asked: Asked, run: Path) -> None:
        job = start(asked, kind="analyze", what="map")
        assert job["command"] == f"cutaway analyze {run_word(run, relative=True)} map --evaluation 0"
        assert until(asked, job["id"], "finished", "failed")["state"] == "finished"
        assert (run / "samples" / "0" / "joint.map.latent.parquet").exists()
        log = asked.client.get(f"/api/jobs/{job['id']}/log").json()["data"]
        assert log["lines"][0] == "map: done"
        assert log["ended"] is True
        assert log["next"] == len(log["lines"])
        after = asked.client.get(f"/api/jobs/{job['id']}/log", params={"from": 1}).json()["data"]
        assert after["lines"] == log["lines"][1:]

    def test_what_does_not_apply_is_said(self, asked: Asked) -> None:
        job = start(asked, kind="analyze", what="to-label")
        ended = until(asked, job["id"], "finished", "failed")
        assert ended["state"] == "failed"
        assert "to label" in ended["error"]

    def test_a_run_is_evaluated_once_more(self, asked: Asked, run: Path) -> None:
        job = start(asked, kind="evaluate")
        ended = until(asked, job["id"], "finished", "failed")
        assert (ended["state"], ended["done"], ended["total"]) == ("finished", 330, 330)
        assert [one.finished for one in evaluations(Run.open(run))] == [True, True]

    def test_a_binding_that_the_run_brings_along_is_not_executed(self, asked: Asked, run: Path, made: Path) -> None:
        trap = run / "leap_binder.py"
        trap.write_text("from pathlib import Path\nPath(__file__).with_name('trapped').touch()\n")
        opened = Run.open(run)
        source = opened.document("samples/0/source.json")
        assert source is not None
        opened.write_document("samples/0/source.json", {**source, "binding": {"entry_file": str(trap)}})
        ended = until(asked, start(asked, kind="evaluate")["id"], "finished", "failed")
        assert ended["state"] == "failed"
        assert "not run from there" in ended["error"]
        assert str(run) not in json.dumps(ended)
        assert not run.with_name("trapped").exists()
        assert not (run / "trapped").exists()

    def test_a_comparison_is_kept_for_the_page_that_shows_it(self, run: Path) -> None:
        other = Path(shutil.copytree(run, run.with_name("others")))
        with studio_of(run.parent) as asked:
            job = start(asked, kind="compare", other=asked.id_of("others"))
            assert until(asked, job["id"], "finished", "failed")["state"] == "finished"
        first, second = (evaluations(Run.open(one))[-1] for one in (run, other))
        found = kept_comparison(first, second)
        assert found is not None
        assert found.counts is not None
        assert found.counts["worse"] == found.counts["better"] == 0
        assert found.accuracy is not None
        assert found.accuracy.change == 0
        assert kept_comparison(second, first) is None

    @pytest.mark.parametrize(
        ("job", "said"),
        [
            ({"kind": "analyze", "what": "mapp"}, "Did you mean 'map'"),
            ({"kind": "evaluate", "what": "map"}, "`what` is for analyze"),
            ({"kind": "compare"}, "`other` names the run"),
            ({"kind": "analyze", "other": "insects"}, "`other` names the run"),
            ({"kind": "analyze", "evaluation": 7}, "no evaluation 7"),
            ({"kind": "delete"}, "analyze"),
        ],
    )
    def test_what_cannot_be_done_is_refused_at_once(self, asked: Asked, run: Path, job: dict, said: str) -> None:
        answer = asked.client.post("/api/jobs", json={"run": asked.id_of("insects"), **job})
        assert answer.status_code in (400, 404, 422)
        assert said in answer.json()["error"] + answer.json()["hint"]
        assert not (run / "jobs").exists()


@pytest.mark.slow
class TestHowMany:
    def test_of_two_that_ask_for_the_same_at_once_both_get_one_job(self, asked: Asked, run: Path, slow: None) -> None:
        found: list[str] = []
        both = [threading.Thread(target=lambda: found.append(start(asked, kind="evaluate")["id"])) for _ in range(4)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        assert len(set(found)) == 1
        assert len(job_ids(run)) == 1

    def test_the_third_waits_until_another_has_ended(self, asked: Asked, slow: None) -> None:
        first = start(asked, kind="evaluate")
        start(asked, kind="analyze")
        third = start(asked, kind="analyze", what="confusion")
        assert third["state"] == "waiting"
        assert third["stage"] == "waiting for its turn"
        cancel(asked, first["id"])
        assert until(asked, third["id"], "finished", "failed")["state"] == "finished"

    def test_one_that_waits_can_be_cancelled(self, asked: Asked, run: Path, slow: None) -> None:
        start(asked, kind="evaluate")
        start(asked, kind="analyze")
        third = start(asked, kind="analyze", what="confusion")
        assert cancel(asked, third["id"])["state"] == "cancelled"
        assert not (run / "jobs" / third["id"] / "process.json").exists()

    def test_the_newest_fifty_are_kept(self, asked: Asked, run: Path) -> None:
        first = start(asked, kind="analyze", what="confusion")["id"]
        until(asked, first, "finished")
        for number in range(60):
            shutil.copytree(run / "jobs" / first, run / "jobs" / f"20200101-0000{number:02d}-00000000")
        until(asked, start(asked, kind="analyze", what="confusion")["id"], "finished")
        assert len(job_ids(run)) == 50
        assert first in job_ids(run)


@pytest.mark.slow
class TestHowTheyEnd:
    def test_one_that_runs_is_cancelled_and_what_it_did_stays(self, asked: Asked, run: Path, slow: None) -> None:
        job = start(asked, kind="evaluate")["id"]
        _until_it_evaluates(asked, job)
        pid = _process(run, job)
        cancel(asked, job)
        assert until(asked, job, "cancelled", "failed", "lost")["state"] == "cancelled"
        _until_it_is_gone(pid)
        assert evaluations(Run.open(run))[1].source.state == "stopped"
        assert cancel(asked, job)["state"] == "cancelled"

    def test_one_that_is_killed_is_lost(self, asked: Asked, run: Path, slow: None) -> None:
        job = start(asked, kind="evaluate")["id"]
        _until_it_evaluates(asked, job)
        os.kill(_process(run, job), signal.SIGKILL)
        ended = until(asked, job, "lost", "failed", "finished")
        assert ended["state"] == "lost"
        assert "killed" in ended["error"]
        assert "Start it again" in ended["hint"]

    def test_one_that_cannot_even_begin_has_failed(
        self, asked: Asked, run: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PYTHONHOME", "/nowhere")
        ended = until(asked, start(asked, kind="analyze")["id"], "failed", "lost")
        assert ended["state"] == "failed"
        assert "ended with" in ended["error"]

    def test_one_whose_run_is_removed_ends(self, asked: Asked, run: Path, slow: None) -> None:
        job = start(asked, kind="evaluate")["id"]
        _until_it_evaluates(asked, job)
        pid = _process(run, job)
        # What a process writes at the moment may keep a folder from being removed at the first try.
        for _ in range(10):
            shutil.rmtree(run, ignore_errors=True)
        _until_it_is_gone(pid)
        assert asked.client.get("/api/jobs").json()["data"] == []


@pytest.mark.slow
class TestWhenTheServerEnds:
    def test_a_job_goes_on_and_the_next_server_lists_it_and_can_cancel_it(self, run: Path, slow: None) -> None:
        with studio_of(run.parent) as asked:
            job = start(asked, kind="evaluate")["id"]
            _until_it_evaluates(asked, job)
        with studio_of(run.parent) as asked:
            before = row(asked, job)
            assert before["state"] == "running"
            end = time.monotonic() + 60
            while row(asked, job)["done"] <= before["done"]:
                assert time.monotonic() < end
                time.sleep(0.1)
            assert start(asked, kind="evaluate")["id"] == job
            cancel(asked, job)
            assert until(asked, job, "cancelled", "lost", "failed")["state"] == "cancelled"

    def test_one_that_waits_is_given_up_with_the_reason(self, run: Path, slow: None) -> None:
        with studio_of(run.parent) as asked:
            first, second = start(asked, kind="evaluate"), start(asked, kind="analyze")
            third = start(asked, kind="analyze", what="confusion")
        with studio_of(run.parent) as asked:
            found = row(asked, third["id"])
            assert (found["state"], found["error"]) == ("cancelled", "The studio ended before it was its turn.")
            for one in (first, second):
                cancel(asked, one["id"])
                until(asked, one["id"], "cancelled", "finished")


class TestRunsThatCannotBeWritten:
    @pytest.mark.usefixtures("permissions_count")
    def test_a_run_that_is_read_only_is_said(self, asked: Asked, run: Path) -> None:
        run.chmod(0o555)
        answer = asked.client.post("/api/jobs", json={"run": asked.id_of("insects"), "kind": "analyze"})
        run.chmod(0o755)
        assert answer.status_code == 503

    def test_a_folder_of_jobs_that_is_a_file_is_said(self, asked: Asked, run: Path) -> None:
        (run / "jobs").write_text("")
        answer = asked.client.post("/api/jobs", json={"run": asked.id_of("insects"), "kind": "analyze"})
        assert answer.status_code == 503
        assert "no folder" in answer.json()["error"]

    def test_results_that_could_not_be_kept_are_a_failure(self, asked: Asked, run: Path) -> None:
        # Where the table would lie there is a folder: renaming over it fails, as on a disk that is full.
        (run / "samples" / "0" / "joint.confusion.latent.parquet").mkdir()
        ended = until(asked, start(asked, kind="analyze", what="confusion")["id"], "finished", "failed")
        assert ended["state"] == "failed"
        assert "not kept" in ended["error"]


def test_a_change_is_told_to_those_who_watch_jobs_and_to_those_who_watch_the_run(asked: Asked) -> None:
    topics = ["jobs", f"run:{asked.id_of('insects')}"]
    since = asked.client.get("/api/changes", params={"topic": topics}).json()["data"]["since"]
    until(asked, start(asked, kind="analyze", what="confusion")["id"], "finished")
    heard: set[tuple[str, str]] = set()
    end = time.monotonic() + 60
    while len(heard) < 2:
        assert time.monotonic() < end, heard
        answer = asked.client.get("/api/changes", params={"topic": topics, "since": since}).json()["data"]
        heard |= {(event["topic"], event["what"]) for event in answer["events"] if event["what"] == "jobs"}
        time.sleep(0.1)
    assert heard == {(topic, "jobs") for topic in topics}


def test_a_job_that_there_is_not_is_not_found(asked: Asked) -> None:
    for path in ("no", "20200101-000000-00000000", "..%2F..%2Frun.json"):
        assert asked.client.get(f"/api/jobs/{path}").status_code == 404
        assert asked.client.post(f"/api/jobs/{path}/cancel", json={}).status_code == 404
