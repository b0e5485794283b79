"""What became of a run, without waiting for those on other machines."""

from pathlib import Path

import pytest

from cutaway.run import RunState
from cutaway.run.leases import LEASE_SECONDS
from cutaway.studio.index.states import States
from tests.unit.studio.index.small_runs import lease_elsewhere, make_run


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.FAILED, RunState.ENDED])
def test_what_was_said_at_the_end_is_the_state(state: RunState, tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", state=state)
    assert States().look("a", str(run.path), "unknown") == state


def test_a_process_of_this_machine_runs_or_is_paused(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", state=None)
    assert States().look("a", str(run.path), "unknown") == "running"
    lease = run.document("leases/train-worker_0-0.json")
    assert lease is not None
    run.write_document("leases/train-worker_0-0.json", {**lease, "paused": True})
    assert States().look("a", str(run.path), "unknown") == "paused"
    run.write_document("leases/train-worker_0-0.json", {**lease, "started": "another"})
    assert States().look("a", str(run.path), "unknown") == "crashed"


def test_a_run_that_nobody_held_is_what_it_says_of_itself(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    (run.path / "leases" / "train-worker_0-0.json").unlink()
    assert States().look("a", str(run.path), "ended") == "ended"


def test_a_lease_of_another_machine_that_moves_is_running(tmp_path: Path) -> None:
    run, clock = make_run(tmp_path / "a"), Clock()
    states = States(clock)
    lease_elsewhere(run, beat=1)
    assert states.look("a", str(run.path), "ended") == "unknown"
    assert states.look_again() == {}
    lease_elsewhere(run, beat=2)
    assert states.look_again() == {"a": "running"}
    assert states.look_again() == {}


def test_a_lease_of_another_machine_that_stands_still_is_lost_after_one_lease(tmp_path: Path) -> None:
    run, clock = make_run(tmp_path / "a"), Clock()
    states = States(clock)
    lease_elsewhere(run, beat=1)
    assert states.look("a", str(run.path), "ended") == "unknown"
    clock.now = LEASE_SECONDS - 0.1
    assert states.look_again() == {}
    clock.now = LEASE_SECONDS + 0.1
    assert states.look_again() == {"a": "lost"}


def test_a_run_that_is_gone_is_no_longer_looked_at(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    states = States()
    lease_elsewhere(run, beat=1)
    states.look("a", str(run.path), "ended")
    states.forget("a")
    assert states.look_again() == {}


@pytest.mark.parametrize("lease", [{}, {"state": "weird"}, {"state": "running", "worker": 7, "attempt": "x"}])
def test_what_is_no_lease_is_a_lost_one(lease: dict[str, object], tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    run.write_document("leases/train-worker_0-0.json", lease)
    assert States().look("a", str(run.path), "ended") == "lost"


def test_a_lease_of_a_process_that_cannot_be_one_is_an_unknown_state(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", state=None)
    lease = run.document("leases/train-worker_0-0.json")
    assert lease is not None
    run.write_document("leases/train-worker_0-0.json", {**lease, "pid": "everybody"})
    assert States().look("a", str(run.path), "ended") == "unknown"
