"""One process's writing side of a run: what it counts, refuses, says and leaves behind."""

from __future__ import annotations

import errno
import logging
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.capture.budget import RESERVE, DiskBudget
from cutaway.capture.recorder import Recorder
from cutaway.capture.records import Offer, StepRecord
from cutaway.capture.selection import Selection
from cutaway.run import Run, RunState, WriterId
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.save_config import SaveConfig
from tests.faulty_storage import Fault, FaultyStorage
from tests.recording import Recorded

WHO = WriterId("train", "worker_0", 0)


def recorder_at(path: Path, *, limit: int = 10**9, fault: Fault | None = None, **others: Any) -> Recorder:
    run = Run.create(path)
    _, lease = run.begin_attempt()
    if fault is not None:
        run.storage = FaultyStorage(run.storage, fault)  # type: ignore[assignment]
    found = Recorder(run, WHO, lease, DiskBudget(limit), **others)
    found.begin(Selection(Collections(), ["losses"], SaveConfig(), None))
    return found


def record(step: int) -> StepRecord:
    offers = [Offer("Net_weight", np.full(3, step, np.float32), "float32")]
    return StepRecord(step, ModeKeys.TRAIN, step, 0.0, statistics=True, wanted=True, offers=offers)


def test_what_is_submitted_is_there_after_a_flush(tmp_path: Path) -> None:
    found = recorder_at(tmp_path / "run")
    for step in range(20):
        assert found.submit(record(step), patience=30)
    assert found.flush()
    assert Recorded(tmp_path / "run").numbers() == list(range(20))
    found.close(RunState.FINISHED)
    assert Recorded(tmp_path / "run").run.state() == "finished"


def test_everything_that_is_written_counts_against_the_budget(tmp_path: Path) -> None:
    found = recorder_at(tmp_path / "run")
    found.save_tensor(0, Offer("mine", np.ones(1000), "float64"))
    assert 8_000 <= found.budget.used <= 10_000
    found.submit(record(0), patience=30)
    found.flush()
    used = found.budget.used
    assert used > 8_000
    found.save_scalar("a", 1.0, 0, "TRAIN", 0.0)
    found.submit(record(1), patience=30)
    found.flush()
    assert found.budget.used > used
    found.close(RunState.FINISHED)


def test_tensors_that_do_not_fit_are_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    found = recorder_at(tmp_path / "run", limit=RESERVE + 20_000)
    for _ in range(2):
        found.save_tensor(0, Offer("large", np.ones(10_000), "float64"))
    found.save_scalar("a", 1.0, 0, "TRAIN", 0.0)
    found.close(RunState.FINISHED)
    recorded = Recorded(tmp_path / "run")
    assert recorded.findings() == ["tensors-refused"]
    assert recorded.tensors() == {}
    assert recorded.scalars("a") == {0: 1.0}


def test_a_budget_that_is_used_up_stops_the_capture(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []
    found = recorder_at(tmp_path / "run", limit=RESERVE + 100, stopped=lambda: calls.append("stopped"))
    found.save_scalar("a", 1.0, 0, "TRAIN", 0.0)
    found.save_scalar("b", 1.0, 0, "TRAIN", 0.0)
    assert found.stopped
    assert calls == ["stopped"]
    found.close(RunState.FINISHED)
    assert Recorded(tmp_path / "run").findings() == ["capture-stopped"]
    [line] = [one.getMessage() for one in caplog.records]
    assert "disk budget of 40 kB is used up" in line
    assert "`disk_budget`" in line


def test_tables_made_while_the_writer_counts_do_not_disturb_it(tmp_path: Path) -> None:
    found = recorder_at(tmp_path / "run")
    for step in range(40):
        found.submit(record(step), patience=30)
        if step == 20:
            found.save_scalar("a", 1.0, step, "TRAIN", 0.0)
            found.save_tensor(step, Offer("mine", np.ones(1), "float64"))
            found.save_sample_values(step, ["training/1"], "loss", [1.0])
    assert found.flush()
    found.close(RunState.FINISHED)
    assert Recorded(tmp_path / "run").numbers() == list(range(40))


@pytest.mark.parametrize("save", ["scalar", "tensor", "values"])
def test_a_write_that_fails_stops_the_capture_and_raises_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, save: str
) -> None:
    found = recorder_at(tmp_path / "run", fault=Fault(1, errno.EIO))
    for _ in range(2):
        if save == "scalar":
            found.save_scalar("a", 1.0, 0, "TRAIN", 0.0)
        elif save == "tensor":
            found.save_tensor(0, Offer("mine", np.ones(1), "float64"))
        else:
            found.save_sample_values(0, ["training/1"], "loss", [1.0])
    assert found.stopped
    assert not found.flush()
    found.close(RunState.FINISHED)
    assert len([one for one in caplog.records if one.levelno >= logging.WARNING]) == 1


def test_something_said_often_is_said_once_unless_it_changes(tmp_path: Path) -> None:
    found = recorder_at(tmp_path / "run")
    for _ in range(3):
        found.say("odd", "warning", "This is odd.")
        found.say("changing", "info", "This changes.", once=False)
    found.close(RunState.FINISHED)
    codes = Recorded(tmp_path / "run").findings()
    assert sorted(codes) == ["changing"] * 3 + ["odd"]


def test_a_writer_that_does_not_end_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("cutaway.capture.recorder.CLOSE_SECONDS", 0.05)
    found, go_on = recorder_at(tmp_path / "run"), threading.Event()
    monkeypatch.setattr(found._steps, "write", lambda _: go_on.wait(30))
    found.submit(record(0), patience=30)
    found.close(RunState.FINISHED)
    go_on.set()
    assert "did not take what was left" in caplog.text
