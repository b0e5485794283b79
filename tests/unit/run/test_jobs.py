"""The files of jobs: what is written is read, and what somebody else wrote harms nobody."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.errors import StorageError
from cutaway.run import Run
from cutaway.run.documents import write_document
from cutaway.run.jobs import (
    JobProgress,
    ask_to_end,
    end_job,
    job_ids,
    job_log,
    log_path,
    new_job,
    prune_jobs,
    read_job,
    write_process,
    write_progress,
)
from cutaway.run.storage import UnmappedStorage

OLD = "20200101-000000-0000000a"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run")


def _written(run: Run, job_id: str = OLD, **more: object) -> None:
    write_document(run.storage, f"jobs/{job_id}/job.json", {"kind": "analyze", "created": 1.0, **more})


class TestAJob:
    def test_is_read_as_it_was_asked_for(self, run: Run) -> None:
        made = new_job(run, "analyze", what="map", evaluation=1, who="studio")
        found = read_job(run.storage, made.id)
        assert found == made
        assert found.state() == "waiting"
        assert job_ids(run.path) == [made.id]

    def test_runs_as_long_as_its_process_lives(self, run: Run) -> None:
        made = new_job(run, "analyze", who="studio")
        write_process(run, made.id)
        assert _state(run, made.id) == "running"
        process = read_job(run.storage, made.id).process
        write_document(run.storage, f"jobs/{made.id}/process.json", {**process, "started": "0"})
        assert _state(run, made.id) == "lost"

    def test_waits_as_long_as_the_one_lives_who_is_to_start_it(self, run: Run) -> None:
        made = new_job(run, "analyze", who="studio")
        _written(run, OLD, by={**made.by, "started": "0"})
        assert _state(run, OLD) == "lost"

    def test_on_another_machine_has_no_state_that_could_be_told_here(self, run: Run) -> None:
        _written(run, by={"machine": "elsewhere", "pid": 1, "started": "0"})
        assert _state(run, OLD) is None

    def test_ends_once(self, run: Run) -> None:
        made = new_job(run, "evaluate", who="studio")
        end_job(run, made.id, "failed", "It broke.", "Mend it.")
        end_job(run, made.id, "finished")
        found = read_job(run.storage, made.id)
        assert (found.state(), found.end.error, found.end.hint) == ("failed", "It broke.", "Mend it.")

    def test_tells_how_far_it_is(self, run: Run) -> None:
        made = new_job(run, "evaluate", who="studio")
        progress = JobProgress("evaluating", 3, 10, "samples", 1.5, 4.7, time.time(), 9)
        write_progress(run, made.id, progress)
        assert read_job(run.storage, made.id).progress == progress

    def test_is_asked_to_end_by_a_file(self, run: Run) -> None:
        made = new_job(run, "evaluate", who="studio")
        ask_to_end(run, made.id)
        assert (run.path / "jobs" / made.id / "cancel").exists()


class TestWhatSomebodyElseWrote:
    def test_names_that_are_no_ids_are_no_jobs(self, run: Run) -> None:
        _written(run)
        for name in ("evil", "20200101-000000-0000000A", "x" * 200, "20200101-000000-0000000b.json"):
            (run.path / "jobs" / name).mkdir()
        (run.path / "jobs" / "20200101-000000-0000000c").write_text("a file")
        (run.path / "jobs" / "20200101-000000-0000000d").symlink_to(run.path)
        assert job_ids(run.path) == [OLD]
        for name in ("..", "../..", "/etc", "", "evil"):
            assert read_job(run.storage, name) is None
            assert job_log(run.path, name, 0, 10) == ([], 0)

    def test_thousands_of_jobs_are_cut_to_the_newest(self, run: Run) -> None:
        for number in range(3_000):
            (run.path / "jobs" / f"20200101-000000-{number:08x}").mkdir(parents=number == 0)
        found = job_ids(run.path)
        assert len(found) == 100
        assert found[0] == f"20200101-000000-{2999:08x}"

    def test_a_folder_of_jobs_that_is_a_link_has_none_and_takes_none(self, run: Run, tmp_path: Path) -> None:
        other = Run.create(tmp_path / "other")
        _written(other)
        (run.path / "jobs").symlink_to(other.path / "jobs")
        assert job_ids(run.path) == []
        assert job_log(run.path, OLD, 0, 10) == ([], 0)
        with pytest.raises(StorageError, match="no folder"):
            new_job(run, "analyze", who="studio")

    def test_a_log_that_is_a_link_or_a_pipe_is_empty(self, run: Run, tmp_path: Path) -> None:
        _written(run)
        secret = tmp_path / "secret"
        secret.write_text("hunter2\n")
        log_path(run.path, OLD).symlink_to(secret)
        assert job_log(run.path, OLD, 0, 10) == ([], 0)
        log_path(run.path, OLD).unlink()
        os.mkfifo(log_path(run.path, OLD))
        assert job_log(run.path, OLD, 0, 10) == ([], 0)

    def test_a_giant_document_is_not_read(self, run: Run) -> None:
        _written(run, what="x" * 100_000)
        assert read_job(run.storage, OLD) is None

    def test_a_kind_that_there_is_not_is_no_job(self, run: Run) -> None:
        _written(run, kind="os.system")
        assert read_job(run.storage, OLD) is None

    def test_an_end_that_cannot_be_read_is_a_failure(self, run: Run) -> None:
        _written(run)
        (run.path / "jobs" / OLD / "end.json").write_text("{")
        found = read_job(run.storage, OLD)
        assert found.state() == "failed"
        assert "cannot be read" in found.end.error

    @settings(max_examples=50, deadline=None)
    @given(
        content=st.dictionaries(
            st.sampled_from(["what", "evaluation", "other", "command", "created", "by", "stage", "done", "pid"]),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
                lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
                max_leaves=5,
            ),
        )
    )
    def test_wrong_types_harm_nobody(self, tmp_path_factory: pytest.TempPathFactory, content: dict) -> None:
        storage = UnmappedStorage(tmp_path_factory.mktemp("run"))
        for name in ("job.json", "process.json", "progress.json", "end.json"):
            write_document(storage, f"jobs/{OLD}/{name}", {**content, "kind": "analyze"}, durable=False)
        found = read_job(storage, OLD)
        assert found is not None
        assert found.state() == "failed"


class TestTheLog:
    def test_is_read_in_whole_lines_from_any_of_them(self, run: Run) -> None:
        _written(run)
        log_path(run.path, OLD).write_text("one\ntwo\nthr")
        assert job_log(run.path, OLD, 0, 10) == (["one", "two"], 2)
        assert job_log(run.path, OLD, 1, 10) == (["two"], 2)
        assert job_log(run.path, OLD, 0, 1) == (["one"], 1)
        assert job_log(run.path, OLD, 99, 10) == ([], 99)

    def test_of_a_bar_that_was_drawn_over_itself_the_last_is_told(self, run: Run) -> None:
        _written(run)
        log_path(run.path, OLD).write_text("10 %\r20 %\r30 %\r\nend\n")
        assert job_log(run.path, OLD, 0, 10)[0] == ["30 %", "end"]

    def test_steers_no_screen(self, run: Run) -> None:
        _written(run)
        log_path(run.path, OLD).write_bytes(b"\x1b[31mred\x00\xff\x1b]0;title\x07\n<script>\n")
        lines, _ = job_log(run.path, OLD, 0, 10)
        assert all(line.isprintable() for line in lines)
        assert lines[1] == "<script>"


def test_old_jobs_that_have_ended_are_removed_and_others_stay(run: Run) -> None:
    for number in range(55):
        _written(run, f"20200101-0000{number:02d}-00000000")
    living = new_job(run, "analyze", who="studio")
    write_process(run, living.id)
    prune_jobs(run)
    assert len(job_ids(run.path)) == 50
    assert living.id in job_ids(run.path)
    (run.path / "jobs" / living.id).rename(run.path / "jobs" / OLD)
    for number in range(10):
        _written(run, f"20210101-0000{number:02d}-00000000")
    prune_jobs(run)
    assert OLD in job_ids(run.path)


def _state(run: Run, job_id: str) -> str | None:
    found = read_job(run.storage, job_id)
    assert found is not None
    return found.state()
