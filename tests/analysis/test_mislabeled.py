"""Wrong labels that were planted are found, named and counted; where none are, none are claimed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from sklearn.metrics import average_precision_score
from torch import nn

import cutaway.torch as smd
from cutaway.analysis import Population
from cutaway.analysis.labels import accepted, calibration_error, find_mislabeled
from cutaway.analysis.samples.ranked import Ranked
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate
from tests.analysis.planted import digits, flipped, near, network, trained

CASES = [("uniform", 0.05), ("confusable", 0.05), ("uniform", 0.1), ("confusable", 0.1)]


@cache
def _found(kind: str, rate: float) -> tuple[Ranked, np.ndarray, np.ndarray]:
    """The ranking of digits, which of its rows are wrong, and which suggestions are right."""
    x, y = digits()
    samples = trained(x, flipped(y, kind, rate, 0))
    ranked = find_mislabeled(samples, near(samples))
    truth = y[_rows(ranked.table)]
    labels, suggested = (np.array(ranked.table[name].to_pylist(), int) for name in ("label", "suggested"))
    return ranked, labels != truth, suggested == truth


def _rows(table: pa.Table) -> np.ndarray:
    return np.array([int(one.split("/")[-1]) for one in table["sample"].to_pylist()])


@pytest.mark.parametrize(("kind", "rate"), CASES)
def test_planted_labels_come_first_and_the_right_one_is_suggested(kind: str, rate: float) -> None:
    ranked, wrong, named = _found(kind, rate)
    assert average_precision_score(wrong, -np.arange(len(wrong))) >= 0.98
    assert named[wrong].mean() >= 0.95
    assert (np.diff(ranked.table["score"].to_numpy()) <= 0).all()


@pytest.mark.parametrize(("kind", "rate"), CASES)
def test_scores_are_probabilities(kind: str, rate: float) -> None:
    ranked, wrong, _ = _found(kind, rate)
    scores = ranked.table["score"].to_numpy()
    assert calibration_error(scores, wrong) < 0.02
    assert wrong[scores >= 0.95].mean() >= 0.95
    assert scores.sum() == pytest.approx(wrong.sum(), rel=0.25)


@pytest.mark.parametrize(("kind", "rate"), CASES)
def test_most_wrong_labels_are_accepted_and_hardly_a_right_one(kind: str, rate: float) -> None:
    ranked, wrong, _ = _found(kind, rate)
    chosen = accepted(ranked.table)
    assert wrong[chosen].mean() >= 0.95
    assert wrong[chosen].sum() / wrong.sum() >= 0.4


def test_nothing_is_claimed_of_digits_as_they_are() -> None:
    ranked, _, _ = _found("uniform", 0.0)
    scores = ranked.table["score"].to_numpy()
    assert scores.max() < 0.95
    assert scores.sum() < 0.005 * len(scores)
    assert not accepted(ranked.table).any()


def test_samples_between_overlapping_classes_are_not_called_wrong() -> None:
    random = np.random.default_rng(0)
    centres = random.normal(size=(10, 64)) * np.r_[np.ones(10), np.zeros(54)] * 1.25
    y = random.integers(0, 10, 2500)
    x = (centres[y] + random.normal(size=(2500, 64)) * np.r_[np.ones(10), np.zeros(54)]).astype(np.float32)
    samples = trained(x / 2, y, epochs=10)
    ranked = find_mislabeled(samples, near(samples))
    assert np.mean(np.array(ranked.table["label"]) != np.array(ranked.table["prediction"])) > 0.03
    scores = ranked.table["score"].to_numpy()
    # A reason and no number is an answer, too.
    assert np.isnan(scores).all() or (scores.max() < 0.95 and scores.sum() < 0.005 * len(y))
    assert not accepted(ranked.table).any()


def test_labels_learned_by_heart_are_still_ranked_first() -> None:
    x, y = digits()
    labels = flipped(y, "uniform", 0.1, 0)
    samples = trained(x[:900], labels[:900], epochs=120)
    ranked = find_mislabeled(samples, near(samples))
    rows = _rows(ranked.table)
    assert average_precision_score(labels[rows] != y[rows], -np.arange(len(rows))) >= 0.95


def test_a_watched_training_and_its_evaluation_give_the_same(tmp_path: Path) -> None:
    x, y = digits()
    x, labels = x[:600], flipped(y, "confusable", 0.1, 1)[:600]
    model, criterion = network(1), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    random = np.random.default_rng(1)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        for _ in range(20):
            for rows in np.array_split(random.permutation(600), 10):
                hook.set_samples(rows.tolist())
                optimizer.zero_grad()
                criterion(model(torch.from_numpy(x[rows])), torch.from_numpy(labels[rows])).backward()
                optimizer.step()
        assert hook.run is not None
        run = hook.run
    names = [str(one) for one in range(10)]
    data = Dataset.from_arrays(x, labels, labels=names, subset="training")
    evaluate(data, model.eval(), run=run)
    with Population.open(run) as population:
        samples = population.samples
        assert samples.dynamics is not None
        assert samples.dynamics.visits.tolist() == [20] * 600
        ranked = find_mislabeled(samples, near(samples))
    rows = _rows(ranked.table)
    assert average_precision_score(labels[rows] != y[rows], -np.arange(600)) >= 0.95
    assert "visits the model preferred another class" in ranked.table["reason"][0].as_py()
    assert not ranked.notes
