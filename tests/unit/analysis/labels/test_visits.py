"""What visits say, whatever loss they were recorded with."""

from __future__ import annotations

import numpy as np
import torch

from cutaway.analysis.labels.visits import read_visits
from cutaway.analysis.samples.dynamics import Dynamics


def _seen(smoothing: float = 0.0) -> tuple[Dynamics, np.ndarray]:
    """Four visits of 50 samples, and the true probability margin of each."""
    random = torch.Generator().manual_seed(0)
    scores, labels = torch.randn((4, 50, 5), generator=random) * 3, torch.arange(50) % 5
    places = labels.expand(4, 50)[..., None]
    losses = torch.nn.functional.cross_entropy(
        scores.reshape(-1, 5), labels.repeat(4), reduction="none", label_smoothing=smoothing
    ).reshape(4, 50)
    margins = scores.gather(2, places)[..., 0] - scores.scatter(2, places, -torch.inf).amax(dim=2)
    chances = torch.softmax(scores, dim=2)
    truth = chances.gather(2, places)[..., 0] - chances.scatter(2, places, -torch.inf).amax(dim=2)
    return Dynamics(losses.numpy(), margins.numpy()), truth.numpy()


def test_probability_margins_follow_from_plain_losses() -> None:
    seen, truth = _seen()
    visits = read_visits(seen, 5)
    assert visits.plain
    np.testing.assert_allclose(visits.margin, truth[1:].mean(axis=0), atol=1e-5)


def test_smoothed_losses_are_noticed_and_margins_taken_alone() -> None:
    seen, truth = _seen(smoothing=0.2)
    visits = read_visits(seen, 5)
    assert not visits.plain
    assert np.corrcoef(visits.margin, truth[1:].mean(axis=0))[0, 1] > 0.9


def test_wrong_and_forgotten_visits_are_counted() -> None:
    margins = np.array([[1.0, -1], [-1, -1], [1, np.nan], [-1, 1]], np.float32)
    visits = read_visits(Dynamics(np.logaddexp(0, -margins), margins), 2)
    assert visits.count.tolist() == [4, 3]
    assert visits.wrong.tolist() == [2, 2]
    assert visits.forgotten.tolist() == [2, 0]


def test_a_single_visit_is_better_than_none() -> None:
    margins = np.array([[2.0, np.nan]], np.float32)
    visits = read_visits(Dynamics(np.logaddexp(0, -margins), margins), 2)
    assert visits.margin[0] > 0.5
    assert np.isnan(visits.margin[1])


def test_a_label_that_was_learned_by_heart_in_the_end_is_judged_by_the_visits_before() -> None:
    resisted, believed = np.full((30, 1), -3.0), np.full((170, 1), 9.0)
    margins = np.concatenate([resisted, believed]).astype(np.float32)
    visits = read_visits(Dynamics(np.logaddexp(0, -margins), margins), 2)
    assert visits.margin[0] < -0.8
    assert (visits.count[0], visits.wrong[0]) == (200, 30)
