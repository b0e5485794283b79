"""Overfit."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.overfit import Overfit
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

LOSS = "CrossEntropyLoss_output_0"
TRAIN_STEPS, EVAL_STEPS = 5, 3


def epochs(training: list[float], validation: list[float], name: str = LOSS) -> ScriptedRun:
    """Return a run with five training steps and three of validation in every epoch; values scatter within an epoch."""
    run = ScriptedRun()
    for trained, checked in zip(training, validation, strict=True):
        for i in range(TRAIN_STEPS):
            run.step(ModeKeys.TRAIN, tensors={name: np.float64(trained * (0.8 + 0.1 * i))})
        for i in range(EVAL_STEPS):
            run.step(ModeKeys.EVAL, tensors={name: np.float64(checked * (0.9 + 0.1 * i))})
    return run


def last_step(epoch: int) -> int:
    return (epoch + 1) * (TRAIN_STEPS + EVAL_STEPS) - 1


FALLING = [2.0 * 0.8**i for i in range(12)]
RISING = [2.0, 1.6, 1.4, 1.3, 1.25, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9]


class TestOverfit(RuleContract):
    rule = Overfit

    def sick(self) -> tuple[ScriptedRun, int]:
        # Medians of three: 1.3 at the lowest, 1.5 in the eighth epoch.
        return epochs(FALLING, RISING), last_step(8)

    def healthy(self) -> ScriptedRun:
        # Far above the training loss, but it still falls.
        return epochs(FALLING, [2.0 * 0.9**i for i in range(12)])

    def test_its_evidence_has_both_losses(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where == {"step": last_step(8), "mode": "EVAL", "tensor": LOSS}
        assert found.evidence["validation_loss"] == pytest.approx(1.6)
        assert found.evidence["training_loss"] == pytest.approx(FALLING[8])
        assert found.evidence["value"] == pytest.approx(1.6 / FALLING[8] - 1)
        assert found.evidence["risen"] == pytest.approx(0.2 / 1.3)

    def test_the_last_round_of_a_run_is_judged(self) -> None:
        run = epochs(FALLING[:9], RISING[:9])
        assert [one.where["step"] for one in findings(self.make(), run)] == [run.newest_step()]


class TestParameters:
    def test_patience_counts_rounds(self) -> None:
        run = epochs(FALLING, RISING)
        assert [one.where["step"] for one in findings(Overfit(patience=3), run)] == [last_step(10)]
        assert findings(Overfit(patience=5), run) == []

    def test_a_larger_ratio_waits_for_a_larger_rise(self) -> None:
        run = epochs(FALLING, RISING)
        assert [one.where["step"] for one in findings(Overfit(ratio_threshold=0.35), run)] == [last_step(11)]
        assert findings(Overfit(ratio_threshold=0.5), run) == []

    def test_rounds_before_start_step_do_not_count(self) -> None:
        run = epochs(FALLING, RISING)
        assert findings(Overfit(start_step=last_step(8)), run) == []

    def test_a_regex_chooses_the_loss(self) -> None:
        run = epochs(FALLING, RISING, name="objective")
        assert len(findings(Overfit(tensor_regex="objective"), run)) == 1

    @pytest.mark.parametrize("arguments", [{"patience": 0}, {"ratio_threshold": -1}, {"start_step": -1}])
    def test_bad_ones_are_refused(self, arguments: dict[str, float]) -> None:
        with pytest.raises(ConfigurationError, match="must hold"):
            Overfit(**arguments)  # type: ignore[arg-type]


def test_a_validation_loss_that_rises_with_the_training_loss_is_no_overfitting() -> None:
    assert findings(Overfit(), epochs(RISING, RISING)) == []


def test_rounds_that_scatter_are_not_taken_for_a_rise() -> None:
    scattered = [1.0 + 0.15 * (-1) ** i for i in range(30)]
    assert findings(Overfit(), epochs([0.5] * 30, scattered)) == []


def test_rounds_without_a_finite_loss_are_passed_over() -> None:
    nan = float("nan")
    assert findings(Overfit(), epochs(FALLING, [nan] * 12)) == []
    assert findings(Overfit(), epochs([0.0] * 12, RISING)) == []


def test_a_run_that_never_validates_is_not_judged() -> None:
    run = ScriptedRun()
    for _ in range(50):
        run.step(tensors={LOSS: np.float64(1.0)})
    assert Overfit().judged(run, 50) == []
