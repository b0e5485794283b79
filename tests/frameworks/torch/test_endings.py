"""How a run ends, and what its state says: closed, failed, ended, crashed; then resumed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import cutaway.torch as smd
from cutaway.errors import RunExists, RunLocked
from tests.frameworks.torch.models import net, sgd, train
from tests.frameworks.torch.zygote import Zygote
from tests.recording import Recorded

SCRIPT = """
import os, signal, sys
import torch
import cutaway.torch as smd
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
hook = smd.Hook(sys.argv[1])
hook.register_module(model)
hook.register_optimizer(optimizer)
for step in range(5):
    optimizer.zero_grad()
    model(torch.ones(1, 4)).sum().backward()
    optimizer.step()
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("last_words", "state", "code"),
    [
        ("hook.close()", "finished", 0),
        ("", "ended", 0),
        ("sys.exit(3)", "ended", 3),
        ("raise ValueError('the data ran out')", "failed", 1),
        ("with hook: 1 / 0", "failed", 1),
        ("with hook: sys.exit(2)", "failed", 2),
        ("with hook: sys.exit()", "finished", 0),
        ("hook.flush(); os.kill(os.getpid(), signal.SIGKILL)", "crashed", -signal.SIGKILL),
        ("hook.flush(); os._exit(0)", "crashed", 0),
    ],
)
def test_the_state_says_how_the_process_ended_and_every_step_is_there(
    tmp_path: Path, zygote: Zygote, last_words: str, state: str, code: int
) -> None:
    done = zygote.run(SCRIPT + last_words, tmp_path / "run")
    assert done.code == code, done.output
    recorded = Recorded(tmp_path / "run")
    assert recorded.run.state() == state
    assert recorded.numbers() == [0, 1, 2, 3, 4]
    if code == 0:
        assert done.output == ""


def test_an_interpreter_of_its_own_ends_as_well(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert Recorded(tmp_path / "run").run.state() == "ended"


def test_an_interrupted_training_is_failed(tmp_path: Path, zygote: Zygote) -> None:
    done = zygote.run(SCRIPT + "signal.raise_signal(signal.SIGINT)", tmp_path / "run")
    assert done.code == -signal.SIGINT
    assert Recorded(tmp_path / "run").run.state() == "failed"


def test_a_block_left_by_an_exception_is_failed_and_the_exception_goes_on(tmp_path: Path) -> None:
    def diverge() -> None:
        model = net()
        with smd.Hook(tmp_path / "run") as hook:
            hook.register_module(model)
            model(torch.ones(1, 4))
            raise ValueError("diverged")

    with pytest.raises(ValueError, match="diverged"):
        diverge()
    recorded = Recorded(tmp_path / "run")
    assert recorded.run.state() == "failed"
    assert recorded.numbers() == [0]


def test_while_it_trains_the_run_is_running_and_grows(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for count in (2, 4):
            train(model, optimizer, nn.CrossEntropyLoss(), steps=2)
            assert hook.flush()
            assert len(Recorded(tmp_path / "run").numbers()) == count
            assert Recorded(tmp_path / "run").run.state() == "running"
    assert Recorded(tmp_path / "run").run.state() == "finished"


# -- resuming --------------------------------------------------------------------------------------


def go(path: Path, steps: int, **settings: object) -> None:
    """Train some steps in each of two modes."""
    model = net()
    optimizer = sgd(model)
    with smd.Hook(path, **settings) as hook:  # type: ignore[arg-type]
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        hook.set_mode("TRAIN")
        train(model, optimizer, nn.CrossEntropyLoss(), steps)
        hook.set_mode("EVAL")
        with torch.no_grad():
            model(torch.ones(1, 4))
        hook.save_scalar("accuracy", 0.5)


def test_a_resumed_run_continues_the_numbers_of_every_mode(tmp_path: Path) -> None:
    go(tmp_path / "run", 3)
    go(tmp_path / "run", 2, resume=True)
    rows = Recorded(tmp_path / "run").steps
    assert [row["step"] for row in rows] == list(range(7))
    assert [row["mode"] for row in rows] == ["TRAIN"] * 3 + ["EVAL"] + ["TRAIN"] * 2 + ["EVAL"]
    assert [row["mode_step"] for row in rows] == [0, 1, 2, 0, 3, 4, 1]
    assert [row["attempt"] for row in rows] == [0] * 4 + [1] * 3


def test_a_run_resumed_from_a_step_replaces_what_came_after_it(tmp_path: Path) -> None:
    go(tmp_path / "run", 5, include_collections=["weights"], save_config={"save_interval": 1})
    go(tmp_path / "run", 1, resume=True, from_step=2)
    recorded = Recorded(tmp_path / "run")
    rows = recorded.steps
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    assert [row["mode_step"] for row in rows] == [0, 1, 2, 0]
    assert [row["attempt"] for row in rows] == [0, 0, 1, 1]
    assert {step for step, _ in recorded.statistics()} == {0, 1, 2, 3}
    assert recorded.saved_at("Net_fc1.weight") == [0, 1]
    assert list(recorded.scalars("accuracy")) == [3]
    older = recorded.run.table("trace/steps").read(attempt=0)
    assert older["step"].to_pylist() == list(range(6))


def test_what_was_saved_before_a_crash_is_not_replaced_by_an_attempt_that_never_came_so_far(
    tmp_path: Path, zygote: Zygote
) -> None:
    script = SCRIPT.replace("sys.argv[1])", "sys.argv[1], statistics_every=0)")
    zygote.run(script + "hook.save_scalar('accuracy', 0.5); os.kill(os.getpid(), signal.SIGKILL)", tmp_path / "run")
    go(tmp_path / "run", 1, resume=True)
    recorded = Recorded(tmp_path / "run")
    assert recorded.scalars("accuracy") == {4: 0.5, 6: 0.5}
    assert [row["step"] for row in recorded.steps if row["attempt"] == 1] == [5, 6]


def test_a_run_can_be_resumed_again_and_again(tmp_path: Path) -> None:
    for _ in range(4):
        go(tmp_path / "run", 1, resume=(tmp_path / "run").exists())
    rows = Recorded(tmp_path / "run").steps
    assert [row["step"] for row in rows] == list(range(8))
    assert [row["attempt"] for row in rows] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_configuration_of_earlier_attempts_stays(tmp_path: Path) -> None:
    with smd.Hook(tmp_path / "run") as hook:
        hook.set_config({"dropout": 0.5, "width": 3})
    with smd.Hook(tmp_path / "run", resume=True) as hook:
        hook.set_config({"width": 4})
    config = Recorded(tmp_path / "run").run.config()
    assert (config["dropout"], config["width"]) == (0.5, 4)


def test_without_resume_an_existing_run_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    go(tmp_path / "run", 2)
    with pytest.raises(RunExists):
        smd.Hook(tmp_path / "run")
    assert len(Recorded(tmp_path / "run").run.attempts()) == 1


def test_a_second_live_hook_on_the_same_run_is_refused(tmp_path: Path) -> None:
    with smd.Hook(tmp_path / "run"):
        with pytest.raises(RunLocked, match="process"):
            smd.Hook(tmp_path / "run", resume=True)
        assert Recorded(tmp_path / "run").run.state() == "running"
    smd.Hook(tmp_path / "run", resume=True).close()


def test_a_crashed_run_can_be_resumed(tmp_path: Path, zygote: Zygote) -> None:
    zygote.run(SCRIPT + "hook.flush(); os.kill(os.getpid(), signal.SIGKILL)", tmp_path / "run")
    go(tmp_path / "run", 1, resume=True)
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == list(range(7))
    assert recorded.run.state() == "finished"


def test_the_disk_budget_counts_what_earlier_attempts_wrote(tmp_path: Path) -> None:
    go(tmp_path / "run", 5)
    with smd.Hook(tmp_path / "run", resume=True) as hook:
        assert hook.adapted.recorder is not None
        assert hook.adapted.recorder.budget.used > 10_000


@pytest.mark.parametrize("out_dir", ["run", None])
def test_a_loop_that_changes_its_folder_does_not_take_the_run_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out_dir: str | None
) -> None:
    monkeypatch.delenv("CUTAWAY_HOME")
    monkeypatch.chdir(tmp_path)
    model = net()
    (tmp_path / "elsewhere").mkdir()
    with smd.Hook(out_dir) as hook:
        assert hook.out_dir is not None
        assert hook.out_dir.is_absolute()
        hook.register_module(model)
        model(torch.ones(1, 4))
        monkeypatch.chdir(tmp_path / "elsewhere")
        model(torch.ones(1, 4))
    recorded = Recorded(hook.out_dir)
    assert recorded.numbers() == [0, 1]
    assert recorded.run.state() == "finished"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_hook_without_a_folder_takes_one_named_after_itself(tmp_path: Path) -> None:
    paths = []
    for _ in range(3):
        with smd.Hook(name="mnist") as hook:
            assert hook.out_dir is not None
            paths.append(hook.out_dir)
    assert len(set(paths)) == 3
    for path in paths:
        assert path.parent == tmp_path / "runs"
        assert path.name.startswith("mnist-")
