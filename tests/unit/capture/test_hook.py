"""What every hook does, with a hook that takes arrays."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.capture.adapter import Worker
from cutaway.errors import ConfigurationError, RunExists, RunFormatError
from cutaway.run import Run, RunState
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
