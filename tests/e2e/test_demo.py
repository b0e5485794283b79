"""The demo in a process of its own, as a new user meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.old_sentences import old_sentences

pytest.importorskip("torch")
pytest.importorskip("sklearn")


def test_the_demo_tells_what_it_saw_and_what_to_do_next(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "cutaway", "demo", "--epochs", "4", "--seeds", "2"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    runs = {path.name.rpartition("-")[0] or path.name: path for path in (tmp_path / "runs").iterdir()}
    assert len(runs) == 3
    sick, labels = (next(path for name, path in runs.items() if word in name) for word in ("sick", "labels"))
    [run] = set(runs.values()) - {sick, labels}
    assert old_sentences(done.stdout + done.stderr) == []
    assert len((done.stdout + done.stderr).splitlines()) <= 50
    assert "caught   DeadRelu at step 0" in done.stdout
    assert "in the studio begin with Population and Findings" in done.stdout
    assert f"cutaway watch runs/{sick.name}" in done.stdout
    assert f"cutaway analyze runs/{labels.name} mislabeled" in done.stdout
    for words in (
        "planted",
        "false alarms",
        "points [",
        "2 seeds",
        "ms a step",
        "a CNN with",
        "sustained over",
        "loss",
        "gradients",
        "zeros",
        "hardest",
        "training/",
        "rows of statistics",
        "cost",
    ):
        assert words in done.stdout
    for command in (
        "cutaway studio runs",
        f"cutaway tensors runs/{run.name}",
        f"cutaway runs show runs/{run.name}",
    ):
        assert command in done.stdout
    assert str(run.relative_to(tmp_path)) in done.stderr
    shown = subprocess.run(
        [sys.executable, "-m", "cutaway", "runs", "show", run.name, "--json"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    facts = json.loads(shown.stdout)
    assert facts["state"] == "finished"
    assert facts["health"]["verdict"] == "healthy"
    assert facts["steps"]["by_mode"] == {"TRAIN": 4 * 24, "EVAL": 4 * 5}


@pytest.mark.slow
def test_the_demo_answers_in_json(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cutaway", "demo", "--epochs", "1", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    report = json.loads(done.stdout)
    assert report["steps"] == 24 + 5
    assert report["cost"]["network"].startswith("a CNN with")
    assert report["cost"]["steps"] == 24
    assert 0 < report["loss"]["last"] < report["loss"]["first"]
    assert report["gradients"]["largest"]["l2"] > report["gradients"]["smallest"]["l2"] > 0
    assert all(one["sample"].startswith("training/") for one in report["hardest"])
    assert report["sick"]["health"]["telling"][0]["code"] == "DeadRelu"
    assert report["watched"]["looked"] > 10
    labels = report["labels"]
    assert labels["found"] > 0.5 * labels["planted"]
    assert labels["false"] <= 0.05 * labels["changed"]
    assert 0 < labels["gain"]["low"] < labels["gain"]["difference"] < labels["gain"]["high"]
    assert labels["verdict"] == "better"
    assert {"run", "path", "accuracy", "zeros", "statistics_rows", "bytes", "next"} <= set(report)
