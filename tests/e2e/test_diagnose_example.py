"""The example that diagnoses six sick models, each watched by another process."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

EXAMPLE = Path(__file__).parents[2] / "examples" / "diagnose.py"
EXPECTED = {
    "healthy": "nobody, rightly",
    "dead relu": "DeadRelu",
    "vanishing": "VanishingGradient",
    "exploding": "ExplodingTensor",
    "label imbalance": "ClassImbalance",
    "overfit": "Overfit",
    "stalled data": "StalledTrainingRule",
}


@pytest.mark.slow  # `tests/rules` has a sick training for each rule
def test_every_sick_model_is_caught_by_its_rule_and_the_healthy_one_by_none(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()[1:]
    assert {line[:16].strip(): line[50:72].strip() for line in lines} == EXPECTED
