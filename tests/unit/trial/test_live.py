"""A trial while another thread or process writes, and after that process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import NoMoreData
from cutaway.run import RunState
from cutaway.trial import create_trial
from tests.unit.trial.conftest import Write, Writing

NAMES = [f"tensor_{i}" for i in range(7)]


def _arrays(step: int) -> dict[str, np.ndarray]:
    return {name: np.full((step % 3 + 1, 4), step + i, np.float32) for i, name in enumerate(NAMES)}


def _train(writing: Writing, steps: int) -> None:
    for step in range(steps):
        writing.step(step, _arrays(step), _arrays(step))
    writing.close()


def test_every_step_that_is_listed_is_whole_while_it_is_written(write: Write) -> None:
    writing = write()
    trial = create_trial(writing.run.path)
    thread = threading.Thread(target=_train, args=(writing, 300))
    thread.start()
    seen = 0
    while True:
        over = trial.loaded_all_steps
        steps = trial.steps()
        assert steps == list(range(len(steps)))
        for step in steps[seen:]:
            assert trial.tensor_names(step=step) == NAMES
            for i, name in enumerate(NAMES):
                tensor = trial.tensor(name)
                assert tensor.value(step)[0, 0] == step + i
                assert tensor.reduction_value(step, "max") == step + i
        seen = len(steps)
        if over:
            break
    thread.join()
    assert seen == 300
    assert trial.damage == []


def test_queries_of_a_run_that_has_ended_and_was_read_touch_no_table(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = write()
    _train(writing, 5)
    trial = create_trial(writing.run.path)
    trial.tensor_names()
    listings: list[str] = []
    monkeypatch.setattr(type(trial.run.storage), "list", lambda _, folder: listings.append(folder) or [])
    assert trial.steps() == [0, 1, 2, 3, 4]
    assert len(trial.tensor_names()) == 7
    assert trial.tensor("tensor_3").value(4)[0, 0] == 7
    assert listings == []


KILLED = """
import sys
from pathlib import Path
import numpy as np
from cutaway.run import Run
from tests.unit.trial.conftest import Writing

writing = Writing(Run.create(Path(sys.argv[1])))
writing.collections()
for step in range(1_000_000):
    arrays = {f"tensor_{i}": np.full(100, step, np.float32) for i in range(5)}
    writing.step(step, arrays, arrays)
    print(step, flush=True)
"""


def test_a_killed_process_leaves_every_step_that_it_listed(tmp_path: Path) -> None:
    script = [sys.executable, "-c", KILLED, str(tmp_path / "killed")]
    process = subprocess.Popen(script, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])
    assert process.stdout is not None
    acknowledged = -1
    while acknowledged < 40:
        acknowledged = int(process.stdout.readline())
    trial = create_trial(tmp_path / "killed")
    assert trial.state() is RunState.RUNNING
    trial.wait_for_steps([acknowledged])
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    acknowledged = int((rest.strip().splitlines() or [str(acknowledged)])[-1])
    with pytest.raises(NoMoreData):
        trial.wait_for_steps([10_000_000])
    assert trial.state() is RunState.CRASHED
    assert trial.loaded_all_steps
    steps = trial.steps()
    assert steps == list(range(len(steps)))
    assert len(steps) > acknowledged
    for step in steps:
        assert trial.tensor("tensor_4").value(step)[99] == step
