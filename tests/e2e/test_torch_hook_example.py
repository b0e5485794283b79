"""The example that the README sends people to: a training, and a second process that looks into it."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

EXAMPLE = Path(__file__).parents[2] / "examples" / "torch_hook.py"


def last_step(home: Path, run: str) -> int:
    command = [sys.executable, "-m", "cutaway", "tensors", run, "--json"]
    shown = json.loads(subprocess.run(command, cwd=home, capture_output=True, check=True).stdout)
    assert not shown["tensors"] or len(shown["tensors"]) == 13
    return -1 if shown["last_step"] is None else int(shown["last_step"])


@pytest.mark.slow
def test_a_second_process_sees_statistics_grow_while_the_example_trains(tmp_path: Path) -> None:
    training = subprocess.Popen([sys.executable, EXAMPLE], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert training.stdout is not None
        run = Path(training.stdout.readline().split()[-1]).name
        seen = {last_step(tmp_path, run)}
        deadline = time.monotonic() + 60
        while len(seen) < 3 and time.monotonic() < deadline:
            seen.add(last_step(tmp_path, run))
        assert len(seen) >= 3
        assert training.poll() is None
    finally:
        training.kill()
        training.wait()
    command = [sys.executable, "-m", "cutaway", "runs", "show", run, "--json"]
    facts = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout)
    assert facts["state"] == "crashed"
    assert facts["steps"]["last"] >= max(seen)


@pytest.mark.slow
def test_the_example_ends_well(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLE), "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "runs/torch_hook-" in done.stdout
