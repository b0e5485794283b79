import pytest

from cutaway.demo.training import Cost


def test_the_cost_is_the_ratio_of_medians_and_its_noise_that_of_equal_epochs() -> None:
    cost = Cost.of([(1.0, 1.2, 1.1), (1.0, 1.3, 1.0), (1.0, 9.0, 0.9)])
    assert cost is not None
    assert (cost.watched_seconds, cost.bare_seconds, cost.triples) == (1.3, 1.0, 3)
    assert cost.noise == pytest.approx(1 - 1 / 1.1)
    assert Cost.of([]) is None
