import pytest

from cutaway.demo.training import Cost


def test_the_cost_of_a_step_is_the_median_of_epochs_and_its_noise_that_of_equal_epochs() -> None:
    cost = Cost.of("a CNN", [(1.0, 1.2, 1.1), (1.0, 1.3, 1.0), (1.0, 9.0, 0.9)], 100)
    assert (cost.network, cost.steps) == ("a CNN", 300)
    assert cost.watched_ms == pytest.approx(13)
    assert cost.bare_ms == pytest.approx(10)
    assert cost.noise == pytest.approx(1 - 1 / 1.1)
