"""Held-out samples are judged where there are any; by errors where there are enough, else by the loss."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cutaway.analysis.insights.judging import judged
from cutaway.analysis.samples import Samples


def samples(subset: list[str], **columns: object) -> Samples:
    table = pa.table({"sample": [str(one) for one in range(len(subset))], "subset": subset, **columns})
    return Samples(table, np.zeros((len(subset), 2), np.float32))


def test_held_out_subsets_are_judged_and_training_stands_beside_them() -> None:
    subset = ["training"] * 100 + ["validation"] * 60 + ["test"] * 40
    by, note = judged(samples(subset, correct=[False] * 100 + [False, True] * 50))
    assert by is not None
    assert by.measure == "error"
    assert by.subsets == ("validation", "test")
    assert by.overall == 0.5
    assert int(by.training.sum()) == 100
    assert not note


def test_training_alone_is_judged_and_that_is_said() -> None:
    by, note = judged(samples(["training"] * 100 + ["test"] * 3, correct=[False, True] * 50 + [True] * 3))
    assert by is not None
    assert by.subsets == ("training",)
    assert not by.training.any()
    assert "training itself is judged" in note


def test_few_errors_leave_it_to_the_loss() -> None:
    by, note = judged(samples(["test"] * 100, correct=[True] * 95 + [False] * 5, loss=np.arange(100.0)))
    assert by is not None
    assert by.measure == "loss"
    assert "Only 5 predictions are wrong" in note


def test_a_loss_that_is_not_finite_is_no_outcome() -> None:
    losses = np.arange(100.0)
    losses[:10] = np.nan
    losses[10:12] = np.inf
    by, _ = judged(samples(["test"] * 100, loss=losses))
    assert by is not None
    assert int(by.rows.sum()) == 88
    assert np.isfinite(by.overall)


def test_unlabelled_samples_are_never_judged() -> None:
    by, _ = judged(samples(["unlabeled"] * 100 + ["test"] * 60, loss=np.arange(160.0)))
    assert by is not None
    assert by.subsets == ("test",)


def test_nothing_to_judge_by_and_too_few_samples_say_so() -> None:
    by, why = judged(samples(["test"] * 100))
    assert by is None
    assert "neither a loss nor labels" in why
    by, why = judged(samples(["test"] * 10, loss=np.arange(10.0)))
    assert by is None
    assert "10 samples" in why


def test_ranks_stand_in_for_losses_without_a_mean() -> None:
    by, _ = judged(samples(["test"] * 100, loss=np.exp(np.arange(100.0))))
    assert by is not None
    assert by.scaled.min() == 0
    assert by.scaled.max() == 1


def test_the_worst_row_is_wrong_with_the_largest_loss() -> None:
    losses = np.arange(100.0)
    by, _ = judged(samples(["test"] * 100, correct=[False] * 50 + [True] * 50, loss=losses))
    assert by is not None
    assert by.worst(by.rows) == 49
