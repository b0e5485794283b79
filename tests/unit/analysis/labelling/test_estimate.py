"""The estimated accuracy: what it needs, what it says, and its parts."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.labelling import estimate_accuracy
from cutaway.analysis.labelling.estimate import carried_share, unlike_share
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable


def answers(rows: int = 400, held: int = 200, seed: int = 0, subset: str = "validation") -> Samples:
    """Probabilities that are right as often as they say."""
    chance = np.random.default_rng(seed)
    likely = chance.uniform(0.5, 1, rows)
    label = (chance.random(rows) > likely).astype(int)
    labels = [int(one) if row < held else None for row, one in enumerate(label)]
    columns = {"subset": [subset] * held + ["unlabeled"] * (rows - held)}
    return Samples.from_arrays(chance.normal(size=(rows, 3)), labels, np.stack([likely, 1 - likely], 1), columns)


def test_it_names_the_metric_its_interval_and_what_it_rests_on() -> None:
    found = estimate_accuracy(answers())
    assert found.low < 0.75 < found.high
    assert found.low < found.value < found.high
    assert (found.metric, found.count, found.held_out, found.unlike) == ("accuracy", 200, 200, 0.0)
    assert found.words.startswith("accuracy on 200 unlabelled samples is probably 0.7")


def test_a_model_without_mistakes_is_not_called_infallible() -> None:
    value, variance = carried_share(np.linspace(0, 5, 50), np.ones(50, np.bool_), np.linspace(0, 5, 50))
    assert 0.95 < value < 1
    assert variance > 0


def test_equal_scores_carry_the_plain_share() -> None:
    value, _ = carried_share(np.zeros(100), np.arange(100) < 80, np.zeros(10))
    assert value == pytest.approx(0.8, abs=0.01)


def test_samples_of_one_kind_are_alike_and_far_ones_are_not() -> None:
    chance = np.random.default_rng(0)
    known = chance.normal(size=(500, 8)).astype(np.float32)
    assert max(unlike_share(known, chance.normal(size=(300, 8)).astype(np.float32), seed) for seed in range(5)) == 0
    assert unlike_share(known, known[:300] + 20, 0) > 0.85
    assert unlike_share(known[:2], known, 0) == 0


def test_training_samples_tell_nothing_about_others() -> None:
    with pytest.raises(AnalysisUnavailable, match="evaluate a validation subset"):
        estimate_accuracy(answers(subset="training"))


def test_what_it_cannot_do_is_said() -> None:
    with pytest.raises(AnalysisUnavailable, match="probabilities"):
        estimate_accuracy(Samples.from_arrays(np.eye(3)))
    with pytest.raises(AnalysisUnavailable, match="metrics are known"):
        estimate_accuracy(answers(200, 200))
