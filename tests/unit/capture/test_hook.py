"""What every hook does, with a hook that takes arrays."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cutaway.capture import current
from cutaway.capture.adapter import Worker
from cutaway.errors import ConfigurationError, RunExists, RunFormatError
from cutaway.run import Run, RunState
from cutaway.run.failure import TrainingFailure
from cutaway.run.leases import read_leases
from cutaway.trial import create_trial
from tests.recording import Recorded, assert_statistics

WEIGHTS = {"include_collections": ["weights"], "save_config": {"save_interval": 2}}


def test_steps_have_statistics_and_saved_tensors(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run", **WEIGHTS) as hook:
        for step in range(4):
            hook.take(Net_weight=np.full(3, step, np.float32), other=[1.0])
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1, 2, 3]
    assert recorded.saved_at("Net_weight") == [0, 2]
    assert recorded.saved_at("other") == []
    for step in range(4):
        assert_statistics(recorded.statistics()[step, "Net_weight"], np.full(3, step))
    identity = recorded.run.identity
    assert identity["framework"] == "arrays"
    assert identity["versions"]["numpy"] == np.__version__


def test_closing_detaches_and_may_be_done_twice(tmp_path: Path, array_hook: type) -> None:
    hook = array_hook(tmp_path / "run")
    hook.take(x=[1.0])
    hook.close()
    hook.close(RunState.FAILED)
    assert hook.adapter.detached >= 1
    assert Recorded(tmp_path / "run").run.state() == "finished"


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.FAILED, RunState.ENDED])
def test_the_state_that_it_is_closed_with_is_told(tmp_path: Path, array_hook: type, state: RunState) -> None:
    array_hook(tmp_path / "run").close(state)
    run = Run.open(tmp_path / "run")
    assert run.state() is state
    assert run.identity["state"] == state


def test_where_a_saved_tensor_belongs_is_written_with_it(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        hook.take(x=[1.0])
        hook.flush()
        trial = create_trial(tmp_path / "run")
        hook.save_tensor("attention", np.ones(3), collections_to_write=["maps", "mine"])
        assert trial.tensor_names(collection="maps") == ["attention"]
        assert trial.tensor_names(collection="mine") == ["attention"]
        assert trial.tensor_names(collection="weights") == []


def test_where_a_tensor_of_another_worker_belongs_is_written_too(
    tmp_path: Path, array_hook: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in two processes, each of which makes its first hook.
    monkeypatch.setattr(current, "count_shared", lambda: 1)
    with array_hook(tmp_path / "run", Worker(0, "launch", 2), include_workers="all") as chief:
        other = array_hook(tmp_path / "run", Worker(1, "launch", 2), include_workers="all")
        for hook in (chief, other):
            hook.take(x=[1.0])
        other.save_tensor("attention", np.ones(3), collections_to_write="maps")
        assert "attention" in create_trial(tmp_path / "run").collection("maps").tensor_names
        other.close()


def test_a_kill_loses_no_membership_of_what_was_saved(tmp_path: Path) -> None:
    script = (
        "import os, sys\nimport numpy as np\nfrom tests.unit.capture.conftest import ArrayHook\n"
        "hook = ArrayHook(sys.argv[1])\nhook.take(x=[1.0])\nhook.flush()\n"
        "hook.save_tensor('attention', np.ones(3), collections_to_write='maps')\nos.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "run")], check=False, timeout=60)
    trial = create_trial(tmp_path / "run")
    assert trial.state() is RunState.CRASHED
    assert trial.tensor_names(collection="maps") == ["attention"]


def _failure(path: Path) -> TrainingFailure | None:
    return TrainingFailure.in_lease(read_leases(Run.open(path).storage, "train")[0])


def _fails_in(hook: Any) -> None:
    with hook:
        raise ValueError("shapes differ")


def test_a_training_that_fails_leaves_its_traceback(tmp_path: Path, array_hook: type) -> None:
    with pytest.raises(ValueError, match="shapes differ"):
        _fails_in(array_hook(tmp_path / "failed"))
    found = _failure(tmp_path / "failed")
    assert found is not None
    assert found.headline == "ValueError: shapes differ"
    assert "_fails_in" in found.traceback
    with array_hook(tmp_path / "healthy"):
        pass
    assert _failure(tmp_path / "healthy") is None


def test_whoever_closes_a_hook_as_failed_in_a_handler_leaves_the_exception(tmp_path: Path, array_hook: type) -> None:
    hook = array_hook(tmp_path / "run")
    try:
        {}["gone"]
    except KeyError:
        hook.close(RunState.FAILED)
    found = _failure(tmp_path / "run")
    assert found is not None
    assert found.type == "KeyError"


@pytest.mark.parametrize(
    ("end", "state", "kind"),
    [("raise OSError('no data')", RunState.FAILED, "OSError"), ("pass", RunState.ENDED, None)],
)
def test_a_script_that_ends_with_an_exception_leaves_it(
    tmp_path: Path, end: str, state: RunState, kind: str | None
) -> None:
    script = (
        "import sys\nfrom tests.unit.capture.conftest import ArrayHook\n"
        f"hook = ArrayHook(sys.argv[1])\nhook.take(x=[1.0])\n{end}\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "run")], check=False, timeout=60, capture_output=True)
    assert Run.open(tmp_path / "run").state() is state
    found = _failure(tmp_path / "run")
    assert (None if found is None else found.type) == kind


def test_what_a_cell_of_a_notebook_once_raised_did_not_end_its_training(
    tmp_path: Path, array_hook: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "last_exc", NameError("a typo in another cell"), raising=False)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=object))
    array_hook(tmp_path / "run").adapted._close_at_exit()
    assert Run.open(tmp_path / "run").state() is RunState.ENDED


def test_scalars_carry_step_mode_and_time(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        hook.save_scalar("before", 1)
        hook.set_mode("EVAL")
        hook.take(x=[1.0])
        hook.take(x=[1.0])
        hook.save_scalar("after", np.float32(0.5), timestamp=123.0)
        hook.save_scalar("metric", 1.0, sm_metric=True)
    recorded = Recorded(tmp_path / "run")
    rows = {row["name"]: row for row in recorded.rows("scalars")}
    assert (rows["before"]["step"], rows["before"]["mode"]) == (0, "GLOBAL")
    assert (rows["after"]["step"], rows["after"]["mode"], rows["after"]["time"]) == (1, "EVAL", 123.0)
    document = recorded.run.document("trace/collections.json") or {}
    assert document["collections"]["sm_metrics"]["tensor_names"] == ["scalar/metric"]


def test_a_scalar_that_save_scalar_returned_from_is_there(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        for i in range(5):
            hook.save_scalar("progress", i)
            assert len(Recorded(tmp_path / "run").rows("scalars")) == i + 1


def test_what_flush_returned_from_is_there(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        for i in range(3):
            hook.take(x=[1.0])
            assert hook.flush()
            assert Recorded(tmp_path / "run").numbers() == list(range(i + 1))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("7", "training/7"),
        (7, "training/7"),
        (np.int64(7), "training/7"),
        (b"image_0.jpg", "training/image_0.jpg"),
        ("validation/7", "validation/7"),
        ("cats/7", "training/cats/7"),
        ("training", "training/training"),
        (None, None),
    ],
)
def test_sample_ids_begin_with_their_subset(tmp_path: Path, array_hook: type, given: Any, named: str | None) -> None:
    with array_hook(tmp_path / "run") as hook:
        hook.set_samples([given])
        hook.take(x=[1.0])
    assert Recorded(tmp_path / "run").steps[0]["samples"] == [named]


def test_an_epoch_is_counted_until_the_loop_says_which_it_is(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        hook.take(x=[1.0])
        hook.count_epoch()
        hook.take(x=[1.0])
        hook.count_epoch()
        hook.count_epoch()
        hook.take(x=[1.0])
        hook.set_epoch(8)
        hook.count_epoch()
        hook.take(x=[1.0])
    assert [row["epoch"] for row in Recorded(tmp_path / "run").steps] == [None, 0, 1, 8]


def test_configuration_becomes_plain_values(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        hook.set_config({"a": np.float32(0.5), "b": (1, {2}), "c": Path("x"), "d": {"e": None}, 5: True})
    config = Run.open(tmp_path / "run").config()
    assert config["a"] == 0.5
    assert config["b"] == [1, [2]]
    assert config["c"] == "x"
    assert config["d"] == {"e": None}
    assert config["5"] is True


def test_a_configuration_that_cannot_be_read_back_leaves_the_run_free(tmp_path: Path, array_hook: type) -> None:
    array_hook(tmp_path / "run").close()
    (tmp_path / "run" / "config.yaml").write_text("- not a dictionary")
    with pytest.raises(RunFormatError, match=r"config\.yaml"):
        array_hook(tmp_path / "run", resume=True)
    assert Run.open(tmp_path / "run").state() != "running"


def test_only_the_chief_is_active_unless_all_workers_are_asked(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run", worker=Worker(1, "launch", 2)) as hook:
        assert not hook.active
        assert repr(hook).startswith("ArrayHook('off'")
    assert not (tmp_path / "run").exists()


def test_workers_share_the_disk_budget(tmp_path: Path, array_hook: type) -> None:
    chief = array_hook(tmp_path / "run", worker=Worker(0, "launch", 4), include_workers="all", disk_budget=4_000_000)
    assert chief.recorder.budget.limit == 1_000_000


def test_a_dry_run_makes_no_folder(tmp_path: Path, array_hook: type, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "cutaway"), array_hook(tmp_path / "run", dry_run=True, **WEIGHTS) as hook:
        hook.take(Net_weight=[1.0])
        hook.save_scalar("a", 1.0)
        assert hook.flush()
        assert hook.out_dir is None
        assert repr(hook).startswith("ArrayHook('dry run'")
    assert not (tmp_path / "run").exists()
    assert "Net_weight" in caplog.text


def test_a_failure_stops_the_capture_and_says_where(
    tmp_path: Path, array_hook: type, caplog: pytest.LogCaptureFixture
) -> None:
    with array_hook(tmp_path / "run") as hook:
        hook.take(x=[1.0])
        hook.fail(ZeroDivisionError("by zero"), "the forward")
        hook.fail(ZeroDivisionError("again"), "the forward")
        assert not hook.active
        hook.take(x=[1.0])
        assert not hook.flush()
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0]
    [finding] = recorded.run.findings()
    assert finding.code == "capture-stopped"
    assert "ZeroDivisionError in the forward: by zero" in finding.message
    assert len(caplog.records) == 1


def test_something_is_said_once(tmp_path: Path, array_hook: type, caplog: pytest.LogCaptureFixture) -> None:
    with array_hook(tmp_path / "run") as hook:
        hook.say("odd", "This is odd.", step=3)
        hook.say("odd", "This is odd.", step=4)
    [finding] = Run.open(tmp_path / "run").findings()
    assert (finding.code, finding.where["step"], finding.source) == ("odd", 3, "capture worker_0")
    assert len(caplog.records) == 1


def test_collections_are_written_when_the_first_step_begins(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run", include_collections=["weights"], include_regex="x", save_all=True) as hook:
        assert Run.open(tmp_path / "run").document("trace/collections.json") is None
        hook.take(x=[1.0])
        document = Run.open(tmp_path / "run").document("trace/collections.json") or {}
    assert document["included"] == ["weights", "default", "all", "losses"]
    assert document["collections"]["default"]["include_regex"] == ["x"]


def test_an_existing_run_is_refused_before_anything_changes(tmp_path: Path, array_hook: type) -> None:
    array_hook(tmp_path / "run").close()
    before = (tmp_path / "run" / "run.json").read_bytes()
    with pytest.raises(RunExists):
        array_hook(tmp_path / "run")
    assert (tmp_path / "run" / "run.json").read_bytes() == before


@pytest.mark.parametrize("subset", ["train", "", None])
def test_an_unknown_subset_is_refused(tmp_path: Path, array_hook: type, subset: Any) -> None:
    with array_hook(tmp_path / "run") as hook:
        with pytest.raises(ConfigurationError, match="'training', 'validation', 'test', 'unlabeled'"):
            hook.set_samples([1], subset)
        with pytest.raises(ConfigurationError, match="subset"):
            hook.save_sample_values([1], subset=subset, loss=[1.0])
