"""LearningRateTooHigh, and how updates are measured."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.learning_rate_too_high import LearningRateTooHigh
from cutaway.rules.update_ratios import UpdateRatios
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

LOSS = "CrossEntropyLoss_output_0"


def run_with(shares: list[float], losses: list[float], rate: float | None = 0.5) -> ScriptedRun:
    """Return a run whose two weights turn by a share of their size in each step, beside one that stays frozen."""
    run = ScriptedRun()
    angle = 0.0
    for share, loss in zip(shares, losses, strict=True):
        angle += 2 * np.arcsin(share / 2)
        turned = np.array([np.cos(angle), np.sin(angle)])
        run.step(
            tensors={"a.weight": turned, "b.weight": 3 * turned, "frozen.weight": np.ones(2), LOSS: np.float64(loss)},
            scalars={} if rate is None else {"learning_rate": rate},
        )
    return run


def bouncing(count: int, level: float = 2.0) -> list[float]:
    return [level + 0.2 * (-1) ** i for i in range(count)]


def steps(rule: LearningRateTooHigh, run: ScriptedRun) -> list[int]:
    return [one.where["step"] for one in findings(rule, run)]


class TestLearningRateTooHigh(RuleContract):
    rule = LearningRateTooHigh

    def sick(self) -> tuple[ScriptedRun, int]:
        # In the window up to step 85 more than half of the steps have large updates.
        return run_with([0.01] * 60 + [0.15] * 60, bouncing(120)), 85

    def healthy(self) -> ScriptedRun:
        return run_with([0.01] * 60 + [0.09] * 60, bouncing(120))

    def test_its_evidence_has_the_ratio_the_rate_and_the_loss_at_both_ends(self) -> None:
        found = findings(self.make(), self.sick()[0])[0]
        assert found.evidence["value"] == pytest.approx(0.15)
        assert found.evidence["threshold"] == 0.1
        assert found.evidence["learning_rate"] == 0.5
        assert found.evidence["loss_before"] == pytest.approx(2.0, abs=0.01)
        assert found.evidence["loss"] == pytest.approx(2.0, abs=0.01)
        assert "The learning rate is 0.5." in found.message


def test_large_updates_are_fine_while_the_loss_falls() -> None:
    run = run_with([0.2] * 100, [2.0 * 0.95**i for i in range(100)])
    assert findings(LearningRateTooHigh(), run) == []


def test_the_first_steps_count_for_they_may_be_all_that_moves() -> None:
    # What a rate of 1 does: the weights grow so large in a few steps that nothing changes them any more.
    shares = [0.9 * 0.8**i for i in range(100)]
    run = run_with(shares, [2.3, 9.0, 400.0, 30.0, 80.0, 12.0, 9.0, 60.0, 3.0, 30.0, 2.5, *bouncing(89, 2.5)])
    assert steps(LearningRateTooHigh(), run) == [10]


def test_large_first_updates_that_throw_nothing_up_are_those_of_adam() -> None:
    run = run_with([0.9 * 0.8**i for i in range(100)], [*bouncing(12), *np.linspace(2.0, 0.5, 88).tolist()])
    assert steps(LearningRateTooHigh(), run) == []


def test_a_loss_that_was_thrown_up_and_has_recovered_is_let_be() -> None:
    losses = [2.3, 9.0, 4.0, 3.0, 2.0, 1.8, 1.6, 1.5, 1.5, 1.4, 1.4, *np.linspace(1.4, 0.5, 89).tolist()]
    assert steps(LearningRateTooHigh(), run_with([0.9 * 0.8**i for i in range(100)], losses)) == []


def test_a_loss_that_has_converged_is_not_judged() -> None:
    run = run_with([0.2] * 120, [2.0, *bouncing(119, level=1e-4)])
    assert findings(LearningRateTooHigh(), run) != []  # it bounces by 0.2
    run = run_with([0.2] * 120, [2.0] * 11 + [1e-4] * 109)
    assert [step for step in steps(LearningRateTooHigh(), run) if step > 70] == []


class TestParameters:
    def test_high_is_the_share(self) -> None:
        run = run_with([0.05] * 60, bouncing(60))
        assert findings(LearningRateTooHigh(), run) == []
        assert findings(LearningRateTooHigh(high=0.04), run) != []

    def test_a_shorter_window_sees_it_sooner(self) -> None:
        run = run_with([0.01] * 60 + [0.15] * 60, bouncing(120))
        assert steps(LearningRateTooHigh(window=10), run) == [65]

    @pytest.mark.parametrize("arguments", [{"high": 0}, {"window": 3}])
    def test_bad_ones_are_refused(self, arguments: dict[str, float]) -> None:
        with pytest.raises(ConfigurationError, match="must hold"):
            LearningRateTooHigh(**arguments)  # type: ignore[arg-type]


def test_it_needs_weights_and_a_loss() -> None:
    run = ScriptedRun()
    run.step(tensors={LOSS: np.float64(1.0)})
    with pytest.raises(InsufficientInformationForRuleInvocation, match="needs collection 'weights'"):
        findings(LearningRateTooHigh(), run)
    run = ScriptedRun()
    run.step(tensors={"a.weight": np.ones(2)})
    with pytest.raises(InsufficientInformationForRuleInvocation, match="needs a loss"):
        findings(LearningRateTooHigh(), run)


class TestUpdateRatios:
    def test_frozen_tensors_are_left_out(self) -> None:
        seen = UpdateRatios(10, 10).read(run_with([0.02] * 20, bouncing(20)), 0, 20)
        assert seen is not None
        assert seen.ratio == pytest.approx(0.02)

    def test_where_nothing_moves_the_share_is_zero(self) -> None:
        seen = UpdateRatios(10, 10).read(run_with([0.0] * 20, bouncing(20)), 0, 20)
        assert seen is not None
        assert seen.ratio.tolist() == [0.0] * len(seen.steps)

    def test_rare_statistics_are_of_several_steps(self) -> None:
        run = ScriptedRun()
        for i in range(60):
            tensors = {"a.weight": np.array([1.0, 0.01 * i]), LOSS: np.float64(i % 2)} if i % 5 == 0 else None
            run.step(tensors=tensors)
        seen = UpdateRatios(10, 10).read(run, 0, 60)
        assert seen is not None
        assert seen.ratio == pytest.approx(0.01, rel=0.1)

    def test_steps_of_validation_are_left_out(self) -> None:
        run = ScriptedRun()
        for i in range(40):
            mode = ModeKeys.EVAL if i % 4 == 3 else ModeKeys.TRAIN
            run.step(mode, tensors={"a.weight": np.array([1.0, 0.01 * i]), LOSS: np.float64(9 if i % 4 == 3 else 1)})
        seen = UpdateRatios(10, 10).read(run, 0, 40)
        assert seen is not None
        assert all(step % 4 != 3 for step in seen.steps)
        assert seen.after.tolist() == [1.0] * len(seen.steps)

    def test_tensors_that_come_and_go_are_counted_where_they_are(self) -> None:
        run = ScriptedRun()
        for i in range(40):
            tensors = {"a.weight": np.array([1.0, 0.01 * i]), LOSS: np.float64(1)}
            if i >= 20:
                tensors["b.weight"] = np.array([1.0, 0.03 * i])
            run.step(tensors=tensors)
        seen = UpdateRatios(4, 4).read(run, 0, 40)
        assert seen is not None
        assert seen.ratio[0] == pytest.approx(0.01, rel=0.01)
        assert seen.ratio[-1] == pytest.approx((0.01 / np.hypot(1, 0.4) + 0.03 / np.hypot(1, 1.2)) / 2, rel=0.1)

    def test_several_losses_are_added(self) -> None:
        run = ScriptedRun()
        for i in range(12):
            run.step(tensors={"a.weight": np.ones(2) * i, LOSS: np.float64(1), "MSELoss_output_0": np.float64(2)})
        seen = UpdateRatios(4, 4).read(run, 0, 12)
        assert seen is not None
        assert seen.after.tolist() == [3.0] * len(seen.steps)
