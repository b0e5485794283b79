"""Two runs on the same samples: what the comparison that a job kept says, and where its flips lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from cutaway.analysis import Population
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate
from cutaway.studio.flips import keep_comparison
from tests.unit.studio.one_run import Asked, studio_of


def _model(shift: float) -> torch.nn.Module:
    """A linear model that answers the larger of two numbers; `shift` speaks for the second."""
    model = torch.nn.Linear(2, 2)
    with torch.no_grad():
        model.weight.copy_(4 * torch.eye(2))
        model.bias.copy_(torch.tensor([0.0, shift]))
    return model


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flips") / "runs"
    x = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    labels = x.argmax(axis=1)
    labels[:20] = 1 - labels[:20]
    data = Dataset.from_arrays(x, labels, labels=["left", "right"])
    for name, shift in (("first", 0.0), ("second", 1.5)):
        evaluate(data, _model(shift), folder / name)
    evaluate(
        Dataset.from_arrays(x, labels, labels=["left", "right"], ids=[f"other{i}" for i in range(200)]),
        _model(0),
        folder / "stranger",
    )
    with Population.open(folder / "first") as before, Population.open(folder / "second") as after:
        before.map()
        assert before.origin is not None
        assert after.origin is not None
        keep_comparison(before.origin.evaluation, after.origin.evaluation, before.comparison(after))
    return folder


@pytest.fixture
def asked(runs: Path) -> Iterator[Asked]:
    with studio_of(runs) as one:
        yield one


def _sides(asked: Asked, before: str = "first", after: str = "second") -> dict[str, str]:
    return {"before": asked.id_of(before), "after": asked.id_of(after)}


def test_the_flips_say_which_samples_got_worse_and_which_better(asked: Asked) -> None:
    found = asked.client.get("/api/compare/samples", params=_sides(asked)).json()["data"]
    assert (found["before"], found["after"], found["count"]) == ("first", "second", 200)
    kinds = [one["flip"] for one in found["flips"]]
    assert kinds.count("worse") == found["counts"]["worse"] > 0
    assert kinds.count("better") == found["counts"]["better"] > 0
    assert found["total"] == len(found["flips"]) == len(kinds)
    assert all(one["before"] != one["after"] for one in found["flips"])
    assert found["accuracy"]["before"] == pytest.approx(0.9)


def test_every_sample_has_a_place_on_the_map_of_the_first_and_what_became_of_it(asked: Asked) -> None:
    answer = asked.client.get("/api/compare/samples.arrow", params=_sides(asked))
    table = pa.ipc.open_stream(answer.content).read_all()
    told = asked.client.get("/api/compare/samples", params=_sides(asked)).json()["data"]
    counts = {one["values"]: one["counts"] for one in table["flip"].cast(pa.string()).value_counts().to_pylist()}
    assert counts == {name: told["counts"][name] for name in ("both right", "better", "worse", "both wrong")}
    assert np.isfinite(table["x"].to_numpy()).all()
    grown = dict(zip(table["row"].to_pylist(), table["loss_change"].to_pylist(), strict=True))
    for one in told["flips"]:
        assert grown[one["row"]] == pytest.approx(one["loss_change"], abs=1e-5)


def test_two_runs_that_were_not_compared_are_refused_with_what_compares_them(asked: Asked) -> None:
    for path in ("/api/compare/samples", "/api/compare/samples.arrow"):
        answer = asked.client.get(path, params=_sides(asked, "second", "first"))
        assert answer.status_code == 404
        assert answer.json()["code"] == "comparison-unavailable"
        assert "cutaway analyze" in answer.json()["hint"]


def test_a_run_that_is_not_there_is_said(asked: Asked) -> None:
    answer = asked.client.get("/api/compare/samples", params={**_sides(asked), "after": "nobody"})
    assert answer.status_code == 404


def test_a_kept_comparison_that_is_not_as_we_write_it_counts_as_none(asked: Asked, runs: Path) -> None:
    kept = min((runs / "first" / "samples" / "0").glob("*.compare_*.parquet"), key=lambda path: len(path.name))
    good = kept.read_bytes()
    try:
        about = pq.read_schema(kept).metadata
        pq.write_table(pa.table({"sample": [1, 2], "flip": [3, 4]}).replace_schema_metadata(about), kept)
        for path in ("/api/compare/samples", "/api/compare/samples.arrow"):
            assert asked.client.get(path, params=_sides(asked)).json()["code"] == "comparison-unavailable"
    finally:
        kept.write_bytes(good)
    assert asked.client.get("/api/compare/samples", params=_sides(asked)).status_code == 200
