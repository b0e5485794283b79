"""The gap between training and held-out samples is told only where its words are true."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.insights.judging import judged
from cutaway.analysis.insights.overfitting import overall_gap
from cutaway.analysis.samples import Samples

COUNT = 200


def samples(worst: float) -> Samples:
    """Losses that are lower in training, but for a tenth of the training samples, whose loss is `worst`."""
    chance = np.random.default_rng(0)
    training = chance.uniform(0.0, 0.2, COUNT)
    training[: COUNT // 10] = worst
    losses = np.concatenate([training, chance.uniform(0.2, 0.6, COUNT)])
    columns = {"subset": ["training"] * COUNT + ["validation"] * COUNT, "loss": losses.tolist()}
    return Samples.from_arrays(chance.normal(size=(2 * COUNT, 3)).astype(np.float32), columns=columns)


@pytest.mark.parametrize(("worst", "is_told"), [(0.1, True), (9.0, False)])
def test_training_does_not_do_better_where_its_mean_loss_is_larger(worst: float, is_told: bool) -> None:
    given = samples(worst)
    what, _ = judged(given)
    assert what is not None
    found = overall_gap(given, what)
    assert (found is not None) == is_told
    if found is not None:
        assert found.inside > found.outside
