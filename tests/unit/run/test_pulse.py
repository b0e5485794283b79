"""What of a run has changed, told from the outside of its files."""

import os
from pathlib import Path

import pytest

from cutaway.run import Finding, Run, RunState, WriterId
from cutaway.run import pulse as pulse_module
from cutaway.run.control import Request, ask
from cutaway.run.documents import read_document, write_document
from cutaway.run.findings import append_findings
from cutaway.run.leases import LEASE_SECONDS
from cutaway.run.pulse import ASPECTS, Pulse

CHIEF = WriterId("train", "worker_0", 0)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "mnist")


def scalar(step: int) -> dict[str, list[object]]:
    return {"name": ["loss"], "step": [step], "mode": ["TRAIN"], "value": [0.5], "time": [1.0]}


def test_nothing_has_changed_where_nothing_was_written(run: Run) -> None:
    pulse = Pulse(run.storage)
    assert pulse.look() == []
    assert pulse.look() == []


def test_a_scalar_a_step_and_a_finding_are_each_told_once(run: Run) -> None:
    pulse = Pulse(run.storage)
    scalars = run.writer("scalars", CHIEF)
    scalars.append_rows(scalar(0), 0)
    assert pulse.look() == ["scalars"]
    assert pulse.look() == []
    scalars.append_rows(scalar(1), 1)
    append_findings(run.writer("findings", CHIEF), [Finding("Odd", "warning", "It is odd.")])
    assert pulse.look() == ["scalars", "findings"]
    assert pulse.look() == []


def test_a_request_is_told(run: Run) -> None:
    pulse = Pulse(run.storage)
    ask(run.storage, Request("stop", "train", "a test", "why not"))
    assert pulse.look() == ["requests"]


def test_beats_alone_are_no_change_of_state_but_the_end_is(run: Run) -> None:
    pulse = Pulse(run.storage)
    _, lease = run.begin_attempt(from_step=0)
    assert pulse.look() == ["state"]
    lease.beat()
    assert pulse.look() == []
    lease.show_paused(paused=True)
    assert pulse.look() == ["state"]
    lease.release(RunState.FINISHED)
    assert pulse.look() == ["state"]


def test_a_process_that_is_gone_is_told_although_no_file_changes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.begin_attempt(from_step=0)
    pulse = Pulse(run.storage)
    monkeypatch.setattr(pulse_module, "is_alive", lambda _: False)
    assert pulse.look() == ["state"]
    assert pulse.look() == []


def test_a_training_elsewhere_is_lost_when_its_counter_stands_for_a_lease(run: Run) -> None:
    run.begin_attempt(from_step=0)
    key = "leases/train-worker_0-0.json"
    lease = read_document(run.storage, key) | {"machine": "another"}
    write_document(run.storage, key, lease)
    now = 0.0
    pulse = Pulse(run.storage, clock=lambda: now)
    now += LEASE_SECONDS - 1
    write_document(run.storage, key, lease | {"beat": 7})
    assert pulse.look() == []
    now += LEASE_SECONDS - 1
    assert pulse.look() == []
    now += 2
    assert pulse.look() == ["state"]


def test_a_damaged_lease_and_a_folder_that_is_gone_are_no_fault(run: Run) -> None:
    run.begin_attempt(from_step=0)
    pulse = Pulse(run.storage)
    (run.path / "leases" / "train-worker_0-0.json").write_bytes(b"{broken")
    assert pulse.look() == ["state"]
    for path in sorted(run.path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert "state" in pulse.look()
    assert pulse.look() == []


def test_a_pipe_or_a_huge_file_in_the_place_of_a_document_holds_nobody(run: Run) -> None:
    pulse = Pulse(run.storage)
    os.mkfifo(run.path / "annotations.json")
    (run.path / "leases").mkdir()
    os.mkfifo(run.path / "leases" / "train-worker_0-0.json")
    assert pulse.look() == []
    with (run.path / "leases" / "train-worker_1-0.json").open("wb") as huge:
        huge.truncate(10 << 30)
    assert pulse.look() == []


def test_annotations_are_told(run: Run) -> None:
    pulse = Pulse(run.storage)
    write_document(run.storage, "annotations.json", {"tags": ["good"]})
    assert pulse.look() == ["annotations"]
    assert set(ASPECTS) >= {"state", "steps", "scalars", "findings", "requests", "annotations"}
