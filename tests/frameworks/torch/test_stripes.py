"""Stripes over the steps show how a model trains: batches that only evaluate it leave no bars in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import cutaway.torch as smd
from cutaway.run import Run
from cutaway.run.schemas import OVERVIEW
from cutaway.trial import Trial
from cutaway.trial.overview import Overview
from tests.frameworks.torch.models import batches, net, sgd, train

ROUNDS, TRAINED, EVALUATED = 3, 30, 4


@contextmanager
def train_and_evaluate(path: Path, *, says_mode: bool) -> Iterator[tuple[Trial, list[int]]]:
    """Train in rounds with an evaluation after each; give a trial while the hook is open, and the steps that train."""
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer, trained = sgd(model), list[int]()
    with smd.Hook(path, include_collections=["outputs"]) as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        hook.register_optimizer(optimizer)
        for _ in range(ROUNDS):
            if says_mode:
                hook.set_mode("TRAIN")
            model.train()
            first = hook.step + 1 if trained else 0
            train(model, optimizer, loss, TRAINED)
            trained += range(first, first + TRAINED)
            if says_mode:
                hook.set_mode("EVAL")
            model.eval()
            with torch.no_grad():
                for x, y in batches(EVALUATED, seed=2):
                    loss(model(1000 * x), y)
        hook.flush()
        yield Trial(Run.open(path)), trained


def stripes(trial: Trial) -> Overview:
    return trial.overviews.read(statistic="l2", columns=500)


def assert_shows_training(found: Overview, trained: list[int]) -> None:
    assert found.steps[:-1].tolist() == trained
    assert not np.isnan(found.last[found.tensors.index("Net_fc1.weight")]).any()
    # What goes in is a thousand times as large when the model is evaluated.
    assert np.nanmax(found.max[found.tensors.index("fc1_output_0")]) < 100


@pytest.mark.parametrize("says_mode", [True, False], ids=["of EVAL", "of no mode"])
def test_batches_that_evaluate_leave_no_bars(tmp_path: Path, *, says_mode: bool) -> None:
    with train_and_evaluate(tmp_path / "run", says_mode=says_mode) as (live, trained):
        assert_shows_training(stripes(live), trained)
    for trial in (live, Trial(live.run)):
        assert_shows_training(stripes(trial), trained)


def test_the_coarse_copy_keeps_them_apart(tmp_path: Path) -> None:
    with train_and_evaluate(tmp_path / "run", says_mode=False) as (trial, _):
        pass
    rows = [row for row in trial.run.table(OVERVIEW).read().to_pylist() if row["tensor"] == "fc1_output_0"]
    largest = {kind: max(row["max_max"] for row in rows if row["evaluation"] == kind) for kind in (0, 1)}
    assert largest[0] < 100 < largest[1]
    counted = {kind: sum(row["steps"] for row in rows if row["evaluation"] == kind) for kind in (0, 1)}
    assert counted == {0: ROUNDS * TRAINED, 1: ROUNDS * EVALUATED}
