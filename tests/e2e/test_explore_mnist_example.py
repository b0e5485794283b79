"""The MNIST example as its tutorial tells it: it trains, and every claim holds. Only where the data are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

EXAMPLE = Path(__file__).parents[2] / "examples" / "explore_mnist"
MNIST = Path(os.environ.get("CUTAWAY_MNIST") or Path.home() / ".keras" / "datasets" / "mnist.npz")
CLAIMS = {
    "accuracy",
    "batches",
    "separation",
    "errors",
    "1 and 7",
    "distances",
    "closed 4s",
    "heat maps",
    "loss against distance",
}


def run(script: str, folder: Path) -> str:
    environment = {**os.environ, "CUTAWAY_MNIST": str(MNIST.resolve())}
    done = subprocess.run(
        [sys.executable, EXAMPLE / script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not MNIST.is_file(), reason="there is no mnist.npz; CUTAWAY_MNIST says where it is")
def test_every_claim_of_the_tutorial_holds_on_real_mnist(tmp_path: Path) -> None:
    run("train.py", tmp_path)
    told = run("explore.py", tmp_path)
    claims = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    assert set(claims) == CLAIMS
    assert [name for name, one in claims.items() if not one["holds"]] == []
    for one in claims.values():
        assert one["said"] in told
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    assert figures == {path.name for path in (EXAMPLE.parents[1] / "docs" / "images" / "mnist").glob("*.png")}
