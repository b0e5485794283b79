"""What a run of millions of statistics costs: no route reads them all, and what is shown instead says so."""

import json
from pathlib import Path

import numpy as np
import pytest

from cutaway.testing.rules import ScriptedRun
from cutaway.trial import create_trial, overview
from cutaway.trial.follower import Follower
from tests.unit.studio.one_run import Asked, studio_of

LOSS = "CrossEntropyLoss_output_0"
WEIGHT = "Net_fc1.weight"
STEPS = 200


@pytest.fixture
def root(tmp_path: Path) -> Path:
    run = ScriptedRun()
    for step in range(STEPS):
        run.step(tensors={LOSS: np.array([2.0 - step / 100]), WEIGHT: np.full(3, float(step))}, save=step == 10)
    run.write(tmp_path / "runs" / "long")
    return tmp_path / "runs"


class _AllRowsRead(Exception):
    """Somebody has asked for every row of the statistics."""


@pytest.fixture
def all_rows_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(follower: Follower) -> None:
        raise _AllRowsRead

    monkeypatch.setattr(Follower, "statistics", refuse)


ROUTES = [
    ("", {}, 200),
    ("/scalars", {}, 200),
    ("/curves.arrow", {"series": f"{LOSS}@TRAIN"}, 200),
    ("/steps", {}, 200),
    ("/samples", {}, 200),
    ("/layers", {}, 200),
    ("/tensors", {"sort": "-l2"}, 200),
    ("/tensors/overview.arrow", {}, 200),
    ("/tensor", {"name": WEIGHT}, 200),
    ("/tensor/series.arrow", {"name": WEIGHT}, 200),
    ("/tensor/histogram", {"name": WEIGHT, "step": 10}, 200),
    ("/tensor/histogram", {"name": WEIGHT, "step": 11}, 404),
    ("/tensor/histogram", {"name": "Net_fc1.wieght", "step": 10}, 404),
    ("/tensor/values.arrow", {"name": WEIGHT, "step": 11}, 404),
    ("/findings", {}, 200),
    ("/requests", {}, 200),
]


@pytest.mark.usefixtures("all_rows_refused")
@pytest.mark.parametrize(("path", "more", "status"), ROUTES, ids=[f"{path} {status}" for path, _, status in ROUTES])
def test_no_route_reads_every_row(root: Path, path: str, more: dict[str, str | int], status: int) -> None:
    with studio_of(root) as studio:
        assert studio.get("long", path, **more).status_code == status


@pytest.mark.usefixtures("all_rows_refused")
def test_the_refusal_of_this_test_works(root: Path) -> None:
    with pytest.raises(_AllRowsRead):
        create_trial(root / "long").tensor_names()


def _loss(studio: Asked) -> tuple[list[int], list[float], dict[str, str]]:
    table = studio.arrow("long", "/curves.arrow", series=f"{LOSS}@TRAIN")
    approximate = json.loads(table.schema.metadata[b"approximate"])
    return table["step"].to_pylist(), table["value"].to_pylist(), approximate


def test_a_loss_that_was_not_saved_as_a_number_is_exact_where_its_rows_are_few(root: Path) -> None:
    with studio_of(root) as studio:
        steps, values, approximate = _loss(studio)
    assert steps == list(range(STEPS))
    assert values == pytest.approx([2.0 - step / 100 for step in range(STEPS)])
    assert approximate == {}


def test_a_loss_that_was_not_saved_as_a_number_says_where_a_point_stands_for_several(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "MOST_ROWS", 100)
    with studio_of(root) as studio:
        steps, values, approximate = _loss(studio)
    assert 1 < len(steps) < STEPS
    assert steps[-1] == STEPS - 1
    assert values == pytest.approx([2.0 - step / 100 for step in steps])
    assert "64 recorded steps" in approximate[f"{LOSS}@TRAIN"]
