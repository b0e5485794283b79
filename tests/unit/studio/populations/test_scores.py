"""What a page says of evaluations and clusters, counted by hand; and points that move by their ids."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from cutaway.analysis import Population
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate
from tests.unit.studio.one_run import Asked, studio_of


def _model() -> torch.nn.Module:
    """A model that answers the larger of two numbers."""
    model = torch.nn.Linear(2, 2)
    with torch.no_grad():
        model.weight.copy_(4 * torch.eye(2))
        model.bias.zero_()
    return model


def _subset(name: str, count: int, wrong: int, ids: list[str] | None = None) -> Dataset:
    """Return samples of which the first so many have the label that the model does not give them."""
    x = np.random.default_rng(count).normal(size=(count, 2)).astype(np.float32)
    labels = x.argmax(axis=1)
    labels[:wrong] = 1 - labels[:wrong]
    return Dataset.from_arrays(x, labels, labels=["left", "right"], subset=name, ids=ids)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("scores") / "runs"
    both = Dataset.join(_subset("training", 60, 3), _subset("validation", 40, 10))
    evaluate(both, _model(), folder / "both")
    evaluate(_subset("training", 60, 3), _model(), folder / "trained")
    ids = [f"s{one}" for one in range(50)]
    first = evaluate(_subset("validation", 50, 5, ids), _model(), folder / "moved")
    # The same, then five of them gone, five others come, and all in another order.
    evaluate(_subset("validation", 50, 5, ids), _model(), first.run)
    evaluate(_subset("validation", 50, 5, ["n1", "n2", "n3", "n4", "n5", *reversed(ids[5:])]), _model(), first.run)
    for number in range(3):
        with Population.open(first.run, evaluation=number) as population:
            population.map()
    with studio_of(folder) as one:
        yield one


class TestEvaluations:
    def test_accuracy_is_that_of_each_subset_and_of_validation_where_one_figure_must_do(self, asked: Asked) -> None:
        [row] = asked.data("both", "/population")["evaluations"]
        scores = {one["subset"]: one for one in row["scores"]}
        assert {name: one["samples"] for name, one in scores.items()} == {"training": 60, "validation": 40}
        assert scores["training"]["accuracy"] == pytest.approx(57 / 60)
        assert scores["validation"]["accuracy"] == pytest.approx(30 / 40)
        assert (row["judged"], row["accuracy"]) == ("validation", pytest.approx(30 / 40))
        assert row["loss"] == scores["validation"]["loss"] > scores["training"]["loss"]

    def test_where_nothing_is_held_out_it_is_that_of_training_and_says_so(self, asked: Asked) -> None:
        [row] = asked.data("trained", "/population")["evaluations"]
        assert (row["judged"], row["accuracy"]) == ("training", pytest.approx(57 / 60))


class TestMovement:
    def test_the_same_samples_in_the_same_order_are_told_as_such_and_others_are_not(self, asked: Asked) -> None:
        told = [
            asked.arrow("moved", "/population/points.arrow", evaluation=one).schema.metadata[b"samples"]
            for one in range(3)
        ]
        assert told[0] == told[1] != told[2]

    def test_a_sample_comes_from_where_its_id_lay_and_a_new_one_from_nowhere(self, asked: Asked) -> None:
        ids = [asked.data("moved", "/population/rows", evaluation=one, row=list(range(50))) for one in (0, 2)]
        before, after = ([row["sample"] for row in sorted(rows, key=lambda row: row["row"])] for rows in ids)
        own = asked.arrow("moved", "/population/points.arrow", evaluation=0)
        places = {before[row]: x for row, x in zip(own["row"].to_pylist(), own["x"].to_pylist(), strict=True)}
        moved = asked.arrow("moved", "/population/points.arrow", evaluation=0, like=2)
        gone = 0
        for row, x in zip(moved["row"].to_pylist(), moved["x"].to_pylist(), strict=True):
            if after[row] in places:
                assert x == places[after[row]]
            else:
                gone += 1
                assert np.isnan(x)
        assert gone == 5
        assert moved["row"].equals(asked.arrow("moved", "/population/points.arrow", evaluation=2)["row"])
