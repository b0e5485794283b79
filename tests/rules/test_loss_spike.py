"""LossSpike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.loss_spike import LossSpike, _usual
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

LOSS = "CrossEntropyLoss_output_0"


def falling(count: int = 250, seed: int = 0) -> np.ndarray:
    scatter = 1 + 0.1 * np.random.default_rng(seed).standard_normal(count)
    course: np.ndarray = (0.2 + 2 * np.exp(-np.arange(count) / 60)) * scatter
    return course


def run_with(values: np.ndarray) -> ScriptedRun:
    run = ScriptedRun()
    for i, value in enumerate(values):
        run.step(tensors={LOSS: np.float64(value)}, samples=[f"training/{2 * i}", None, f"training/{2 * i + 1}"])
    return run


def spiked(step: int, height: float, count: int = 250) -> ScriptedRun:
    values = falling(count)
    values[step] = height
    return run_with(values)


class TestLossSpike(RuleContract):
    rule = LossSpike

    def sick(self) -> tuple[ScriptedRun, int]:
        return spiked(170, 5.0), 170

    def healthy(self) -> ScriptedRun:
        # As high as the losses were some steps before.
        return spiked(170, 0.5)

    def test_it_names_the_samples_of_the_batch(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["samples"] == ["training/340", "training/341"]
        assert "The 2 samples of its batch are named." in found.message
        assert found.evidence["loss"] == 5.0
        assert found.evidence["value"] > found.evidence["threshold"] == 8
        assert 0.3 < found.evidence["usual_loss"] < 0.6


@pytest.mark.parametrize("seed", range(5))
def test_losses_with_a_long_tail_are_usual(seed: int) -> None:
    # What batches of eight look like once most samples are learned: the logarithm is what scatters.
    values = 0.02 * np.exp(1.3 * np.random.default_rng(seed).standard_normal(2_000))
    assert findings(LossSpike(), run_with(values)) == []


def test_a_spike_beyond_a_long_tail_is_found() -> None:
    values = 0.02 * np.exp(np.random.default_rng(0).standard_normal(400))
    values[300] = 40.0
    assert [one.where["step"] for one in findings(LossSpike(), run_with(values))] == [300]


def test_two_spikes_are_two_findings() -> None:
    values = falling()
    values[[150, 170]] = 5.0
    assert [one.where["step"] for one in findings(LossSpike(), run_with(values))] == [150, 170]


def test_a_loss_that_is_not_a_number_is_no_spike_and_does_not_hide_one() -> None:
    values = falling()
    values[150:160], values[170] = np.nan, 5.0
    assert [one.where["step"] for one in findings(LossSpike(), run_with(values))] == [170]


def test_a_constant_loss_may_spike_too() -> None:
    assert [one.where["step"] for one in findings(LossSpike(), run_with(np.r_[np.ones(40), 9.0, np.ones(9)]))] == [40]
    assert findings(LossSpike(), run_with(np.r_[np.ones(40), 1.4, np.ones(9)])) == []
    assert findings(LossSpike(), run_with(np.r_[np.zeros(40), 1.4, np.zeros(9)])) == []


def test_the_first_losses_are_compared_with_nothing() -> None:
    assert findings(LossSpike(), spiked(19, 50.0)) == []
    assert [one.where["step"] for one in findings(LossSpike(), spiked(20, 50.0))] == [20]


def test_validation_is_not_looked_at() -> None:
    run = ScriptedRun()
    for i, value in enumerate(falling()):
        run.step(ModeKeys.EVAL if i == 170 else ModeKeys.TRAIN, tensors={LOSS: np.float64(5.0 if i == 170 else value)})
    assert findings(LossSpike(), run) == []


class TestParameters:
    def test_a_higher_threshold_wants_a_higher_spike(self) -> None:
        (found,) = findings(LossSpike(), spiked(170, 5.0))
        assert findings(LossSpike(threshold=found.evidence["value"] + 1), spiked(170, 5.0)) == []

    def test_a_shorter_window_knows_less_of_the_past(self) -> None:
        values = np.r_[np.full(50, 5.0), np.full(50, 1.0)] * (1 + 0.01 * np.random.default_rng(0).standard_normal(100))
        values[90] = 4.0
        assert findings(LossSpike(), run_with(values)) == []
        assert [one.where["step"] for one in findings(LossSpike(window=30), run_with(values))] == [90]

    @pytest.mark.parametrize("arguments", [{"window": 19}, {"threshold": 0}])
    def test_bad_ones_are_refused(self, arguments: dict[str, float]) -> None:
        with pytest.raises(ConfigurationError, match="must hold"):
            LossSpike(**arguments)  # type: ignore[arg-type]


@given(st.lists(st.floats(-1e3, 1e3), min_size=21, max_size=60), st.integers(20, 40))
def test_what_is_usual_is_that_of_the_losses_before(values: list[float], window: int) -> None:
    array = np.array(values)
    usual = _usual(array, 20, window)
    assert len(usual.median) == len(array) - 20
    for i in range(20, len(array)):
        before = array[max(i - window, 0) : i]
        middle = np.median(before)
        assert usual.median[i - 20] == middle
        assert usual.distance[i - 20] == np.median(np.abs(before - middle))
        assert usual.tail[i - 20] == np.sort(before - middle)[-2]
