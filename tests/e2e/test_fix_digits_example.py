"""The example of `cutaway fix`: a real training on wrong labels, corrected, trained again, and what that bought."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cutaway.run import Run, list_runs
from cutaway.run.evaluations import evaluations
from cutaway.run.overlay_use import overlay_of
from cutaway.run.overlays import find_overlay, overlays

pytest.importorskip("torch")
pytest.importorskip("sklearn")

SCRIPT = Path(__file__).parents[2] / "examples" / "fix_digits" / "train.py"
LINE = 'labels = cutaway.dataset.corrected(labels, subset="training", ids=None)'


def call(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTAWAY_")}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def fix(folder: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    done = call("-m", "cutaway", "fix", *words, "--json", folder=folder)
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.mark.slow  # a page of the documentation runs the same commands on the same example
@pytest.mark.timeout(600)
def test_wrong_labels_are_found_corrected_and_the_gain_is_told(tmp_path: Path) -> None:
    done = call(SCRIPT, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("100 wrong training labels")
    old = list_runs(tmp_path / "runs")[0]

    code, told, err = fix(tmp_path, old.name, "--retrain", f"{sys.executable} {SCRIPT}")
    assert code == 0, err
    left = next(int(line.split()[0]) for line in err.splitlines() if "wrong training labels" in line)
    assert left <= 30, "of 100 planted wrong labels"
    expected = told["expected"]
    assert expected["right"] >= 0.95 * expected["changes"]
    assert expected["low"] < expected["gain"] < expected["high"]
    gain = told["gain"]
    assert (gain["over"], gain["count"]) == ("samples", 797)
    assert gain["low"] <= gain["difference"] <= gain["high"]
    assert gain["difference"] > -0.01

    overlay = find_overlay(old)
    new = Run.open(tmp_path / told["runs"][0])
    record = overlay_of(new)
    assert record is not None
    assert record["digest"] == overlay.digest == told["overlay"]["digest"]
    for by, field in (("corrected", "label"), ("weights", "drop")):
        if field in overlay.counts:
            assert {"by": by, "subset": "training", "samples": overlay.counts[field]} in record["read"]
    assert evaluations(new)[-1].source.binding.overlay == overlay.digest
    assert overlay_of(old) is None
    _same_content(old, new)

    _never_read(tmp_path, old)
    code, told, _ = fix(tmp_path, old.name, "--undo")
    assert (code, told["overlays"], overlays(old)) == (0, [], [])


def _same_content(old: Run, new: Run) -> None:
    """Corrected labels are no other samples."""
    first, second = (evaluations(run)[-1].table("training", ["id", "hash"]) for run in (old, new))
    assert first.equals(second)


def _never_read(tmp_path: Path, old: Run) -> None:
    """The same training without the one line trains on the labels as they are, whatever its evaluation reads."""
    code = SCRIPT.read_text(encoding="utf-8")
    asks = 'labels = corrected(labels, subset="training", ids=None)'
    assert asks in code
    (tmp_path / "unread.py").write_text(code.replace(asks, ""), encoding="utf-8")
    status, told, err = fix(tmp_path, old.name, "--retrain", f"{sys.executable} unread.py")
    assert (status, told["ok"], told["code"], told["lines"]) == (1, False, "OverlayNeverRead", [LINE])
    assert LINE in err
