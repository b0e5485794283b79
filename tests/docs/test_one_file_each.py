"""What a page says how to add is added by its one file: its code is taken as it stands, installed, and found."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway import registry
from cutaway.cli import main
from cutaway.errors import ModelFormatError
from tests.docs.following import Follower


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Follower:
    monkeypatch.chdir(tmp_path)
    return Follower(tmp_path, monkeypatch)


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a command answers as JSON."""
    capsys.readouterr()
    with contextlib.suppress(SystemExit):
        main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def train(path: Path, *, shifted: float) -> None:
    """Train on inputs that lie around `shifted`: around 10 all gradients of a weight have one sign."""
    import torch

    from cutaway.torch import Hook

    torch.manual_seed(0)
    model, criterion = torch.nn.Linear(4, 1), torch.nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    with Hook(path, include_collections=["gradients"]) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        for _ in range(6):
            x = torch.randn(64, 4) + shifted
            optimizer.zero_grad()
            criterion(model(x), torch.full((64, 1), 50.0) if shifted else torch.randn(64, 1)).backward()
            optimizer.step()
            hook.flush()


def test_a_rule_of_one_file_looks_beside_ours(
    follow: Follower, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    follow.write("write-a-rule.md", "lopsided.py")
    follow.install("write-a-rule.md")
    assert "LopsidedGradient" in registry.names("rules")
    found = {}
    for name, shifted in (("sick", 10.0), ("healthy", 0.0)):
        train(tmp_path / name, shifted=shifted)
        answer = asked(capsys, "watch", str(tmp_path / name), "--rules", "LopsidedGradient", "--fail-on", "never")
        found[name] = {one["code"] for one in answer["findings"] if "weight" in one["message"]}
    assert found == {"sick": {"LopsidedGradient"}, "healthy": set()}


def test_an_analysis_of_one_file_is_made_asked_reported_and_a_job(
    follow: Follower, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import subprocess
    import sys

    import torch

    from cutaway.dataset import Dataset
    from cutaway.evaluation import evaluate
    from cutaway.run.jobs import new_job
    from cutaway.studio.jobs.rows import analysis_of

    follow.write("add-an-analysis.md", "long_vectors.py")
    follow.install("add-an-analysis.md")
    assert "long vectors" in registry.names("analyses")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2)).eval()
    inputs = np.random.default_rng(0).normal(size=(24, 4)).astype(np.float32)
    run = evaluate(Dataset.from_arrays(inputs, np.arange(24) % 2), network, tmp_path / "run").run
    path = str(tmp_path / "run")
    job = new_job(run, "analyze", what=analysis_of("long_vectors"), evaluation=0, who="a test")
    done = subprocess.run(
        [sys.executable, "-m", "cutaway.studio.jobs.work", path, job.id], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    kept = list((tmp_path / "run" / "samples" / "0").glob("*long_vectors*.parquet"))
    assert len(kept) == 1
    everything = {one["analysis"]: one for one in asked(capsys, "analyze", path)["analyses"]}
    assert everything["long vectors"]["tables"]["long vectors"]["rows"] == 5
    (alone,) = asked(capsys, "analyze", path, "long-vectors", "--most", "3")["analyses"]
    assert alone["tables"]["long vectors"]["rows"] == 3
    assert "`--most` is for long-vectors" in asked(capsys, "analyze", path, "map", "--most", "3")["error"]
    asked(capsys, "report", path, "--out", str(tmp_path / "report.html"))
    assert "The longest vectors" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_visualizer_of_one_file_draws_the_previews(follow: Follower, tmp_path: Path) -> None:
    from cutaway.analysis.population.plotting import previews
    from cutaway.dataset import load_entry
    from cutaway.evaluation import evaluate

    binding = load_entry(follow.write("add-a-visualizer.md", "leap_binder.py"))
    assert [one.name for one in binding.dataset().visualizers if one.name == "spectrogram"] == ["spectrogram"]
    evaluation = evaluate(binding.dataset(), run=tmp_path / "sounds", keep_model=False)
    assert "spectrogram" in json.dumps(evaluation.source.document)
    drawn = dict(previews(evaluation.run, "training"))
    assert len(drawn) == 24
    assert all(png is not None and png.startswith(b"\x89PNG") for png in drawn.values())


def test_a_metric_of_one_file_is_a_column_that_analyses_know(
    follow: Follower, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from cutaway.dataset import load_entry
    from cutaway.evaluation import evaluate

    binding = load_entry(follow.write("add-a-metric.md", "leap_binder.py"))
    evaluation = evaluate(binding.dataset(), run=tmp_path / "quarters", keep_model=False)
    table = evaluation.table("validation")
    assert set(table["metric.rank"].to_pylist()) == {0.0, 1.0, 2.0, 3.0}
    answer = asked(capsys, "test", str(tmp_path / "quarters"), "--add", "metric.rank of validation at most 3")
    assert answer["ok"]


def test_a_model_format_of_one_file_opens_in_its_limited_process(follow: Follower, tmp_path: Path) -> None:
    from cutaway.models import load

    follow.write("add-a-model-format.md", "dense_format.py")
    follow.install("add-a-model-format.md")
    hidden, scores = np.eye(3), [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    good = tmp_path / "model.dense"
    good.write_text(json.dumps({"hidden": hidden.tolist(), "scores": scores}))
    with load(good) as model:
        assert model.description.format == "dense"
        assert model.predict(np.array([[1, 2, -3]], np.float32))["scores"].tolist() == [[1.0, 2.0]]
        assert model.limits
    bad = tmp_path / "other.dense"
    bad.write_text('{"hidden": 1}')
    with pytest.raises(ModelFormatError, match="no two matrices"):
        load(bad)


def test_a_storage_of_one_file_holds_tables_that_readers_read(follow: Follower, tmp_path: Path) -> None:
    import runpy

    from cutaway.run.schemas import SCALARS
    from cutaway.run.segments import TableWriter, WriterId
    from cutaway.run.tables import TableReader

    storage = runpy.run_path(str(follow.write("add-a-storage.md", "sqlite_storage.py")))["SqliteStorage"]
    writer = TableWriter(storage(tmp_path / "run.sqlite"), SCALARS, WriterId("train", "worker_0", 0))
    for step in range(3):
        writer.append_rows({"step": [step], "name": ["loss"], "value": [float(step)]}, step)
    reader = TableReader(storage(tmp_path / "run.sqlite"), SCALARS, list)
    assert reader.read(columns=["value"])["value"].to_pylist() == [0.0, 1.0, 2.0]
    writer.close()
    assert reader.verify(ended=True) == []
