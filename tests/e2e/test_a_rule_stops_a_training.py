"""Two processes that meet only at the run folder: one trains, a rule in the other stops it, and the run says who."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cutaway.cli import main
from cutaway.run import Run, RunState
from cutaway.run.schemas import STEPS

TRAINING = """
import sys, time, torch
import cutaway.torch as smd

torch.manual_seed(0)
torch.set_num_threads(1)
model, criterion = torch.nn.Linear(4, 2), torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with smd.Hook(sys.argv[1]) as hook:
    hook.register_module(model)
    hook.register_loss(criterion)
    hook.register_optimizer(optimizer)
    for step in range(6000):
        x = torch.randn(8, 4)
        if step == 40:
            x[0, 0] = float("nan")
        optimizer.zero_grad()
        criterion(model(x), torch.zeros(8, dtype=torch.long)).backward()
        optimizer.step()
        time.sleep(0.01)
        if hook.should_stop:
            print("stopped at", hook.step, flush=True)
            break
print("cleaned up", flush=True)
"""


@pytest.fixture
def training(tmp_path: Path) -> subprocess.Popen[str]:
    script = tmp_path / "train.py"
    script.write_text(TRAINING)
    command = [sys.executable, str(script), str(tmp_path / "runs" / "sick")]
    return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)


def test_a_rule_in_another_process_stops_the_training_cleanly(
    training: subprocess.Popen[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs" / "sick"
    command = ["watch", str(folder), "--follow", "--rules", "ExplodingTensor", "--action", "ExplodingTensor=stop"]
    watcher = subprocess.Popen([sys.executable, "-m", "cutaway", *command], stdout=subprocess.PIPE, text=True)
    said, _ = training.communicate(timeout=240)
    table, _ = watcher.communicate(timeout=60)
    assert training.returncode == 0
    assert "stopped at" in said, table
    assert "cleaned up" in said
    assert watcher.returncode == 1, "an exploded tensor is an error"
    assert "ExplodingTensor" in table

    run = Run.open(folder)
    assert run.state() is RunState.FINISHED
    exploded = next(one for one in run.findings() if one.code == "ExplodingTensor")
    assert exploded.where["step"] == 40
    last = max(run.table(STEPS).read(columns=["step"])["step"].to_pylist())
    assert 40 < last < 1000
    assert main(["runs", "show", str(folder)]) == 0
    page = capsys.readouterr().out
    assert "by rule ExplodingTensor at step" in page
    assert "sick since step 40" in page
