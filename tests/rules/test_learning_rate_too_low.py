"""LearningRateTooLow."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.learning_rate_too_low import LearningRateTooLow
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from tests.rules.test_learning_rate_too_high import bouncing, run_with


class TestLearningRateTooLow(RuleContract):
    rule = LearningRateTooLow

    def sick(self) -> tuple[ScriptedRun, int]:
        # The first step has no change yet, so the first window is full at step 50.
        return run_with([1e-6] * 80, bouncing(80), rate=1e-8), 50

    def healthy(self) -> ScriptedRun:
        return run_with([2e-5] * 80, bouncing(80), rate=1e-8)

    def test_its_evidence_has_the_ratio_the_rate_and_the_loss_at_both_ends(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["value"] == pytest.approx(1e-6, rel=1e-3)
        assert found.evidence["learning_rate"] == 1e-8
        assert found.evidence["loss"] == pytest.approx(found.evidence["loss_before"], abs=0.02)
        assert "The learning rate is 1e-08." in found.message


def rates(values: list[float]) -> ScriptedRun:
    """Return a run that hardly moves, with the learning rate of each step."""
    run = ScriptedRun()
    for i, (rate, loss) in enumerate(zip(values, bouncing(len(values)), strict=True)):
        tensors = {"a.weight": np.array([1.0, 1e-6 * i]), "CrossEntropyLoss_output_0": np.float64(loss)}
        run.step(tensors=tensors, scalars={"learning_rate": rate})
    return run


def test_tiny_updates_are_fine_while_the_loss_falls() -> None:
    assert findings(LearningRateTooLow(), run_with([1e-6] * 80, [0.99**i for i in range(80)])) == []


def test_a_fall_of_less_than_a_percent_is_no_fall() -> None:
    assert findings(LearningRateTooLow(), run_with([1e-6] * 80, [2 - 1e-5 * i for i in range(80)])) != []


def test_a_rate_that_is_still_raised_is_not_judged() -> None:
    assert findings(LearningRateTooLow(), rates(np.linspace(1e-9, 1e-7, 80).tolist())) == []


def test_a_schedule_at_its_end_is_not_judged() -> None:
    assert findings(LearningRateTooLow(), rates([1e-3] * 5 + [1e-5] * 75)) == []
    assert findings(LearningRateTooLow(), rates([1e-3] * 80)) != []


def test_a_rate_of_zero_is_too_low() -> None:
    assert findings(LearningRateTooLow(), run_with([0.0] * 80, bouncing(80), rate=0.0)) != []


def test_an_unknown_rate_is_left_out_of_the_words() -> None:
    (found,) = findings(LearningRateTooLow(), run_with([1e-6] * 80, bouncing(80), rate=None))
    assert found.evidence["learning_rate"] is None
    assert "The learning rate is 1" not in found.message


def test_weights_that_have_moved_once_are_not_kept_by_the_rate() -> None:
    # A rate that was far too high: the weights are so large by now that nothing moves them.
    assert findings(LearningRateTooLow(), run_with([0.5] * 10 + [1e-7] * 90, bouncing(100), rate=2.0)) == []


def with_gradients(gradient: float, *, share: float = 0.0) -> ScriptedRun:
    """Return a run whose weight turns by a share in each step, with a gradient of a size."""
    run = ScriptedRun()
    for i, loss in enumerate(bouncing(80)):
        tensors = {
            "a.weight": np.array([1.0, share * i]),
            "gradient/a.weight": np.full(2, gradient),
            "CrossEntropyLoss_output_0": np.float64(loss),
        }
        run.step(tensors=tensors, scalars={"learning_rate": 1e-3})
    return run


@pytest.mark.parametrize("gradient", [0.0, 1e-9])
def test_a_dead_network_is_no_low_learning_rate(gradient: float) -> None:
    """It was told to multiply the learning rate by ten."""
    rule = LearningRateTooLow()
    assert findings(rule, with_gradients(gradient, share=gradient)) == []
    assert not rule.has_judged
    # A healthy gradient whose weights hardly move is one.
    assert findings(LearningRateTooLow(), with_gradients(1e-3, share=1e-6)) != []


def test_weights_that_no_optimizer_was_given_are_no_low_learning_rate() -> None:
    assert findings(LearningRateTooLow(), with_gradients(1e-3, share=0.0)) == []


def test_a_loss_that_has_come_down_by_a_tenth_has_learned() -> None:
    losses = [*np.linspace(2.6, 2.0, 20).tolist(), *bouncing(100)]
    assert findings(LearningRateTooLow(), run_with([1e-6] * 120, losses)) == []
    assert findings(LearningRateTooLow(), run_with([1e-6] * 120, bouncing(120))) != []


def test_a_loss_that_has_converged_is_not_judged() -> None:
    assert findings(LearningRateTooLow(), run_with([1e-6] * 120, [2.0, *[1e-4] * 119])) == []


class TestParameters:
    def test_low_is_the_share(self) -> None:
        run = run_with([2e-5] * 80, bouncing(80))
        assert findings(LearningRateTooLow(low=3e-5), run) != []

    def test_the_window_is_how_long_it_waits(self) -> None:
        found = findings(LearningRateTooLow(window=20), run_with([1e-6] * 80, bouncing(80)))
        assert [one.where["step"] for one in found] == [20]

    @pytest.mark.parametrize("arguments", [{"low": 0}, {"window": 3}])
    def test_bad_ones_are_refused(self, arguments: dict[str, float]) -> None:
        with pytest.raises(ConfigurationError, match="must hold"):
            LearningRateTooLow(**arguments)  # type: ignore[arg-type]
