"""WeightUpdateRatio."""

from typing import Any, ClassVar

import numpy as np
import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.weight_update_ratio import WeightUpdateRatio
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

WEIGHT = "fc.weight"


def run_with(sizes: list[float], *, gradient: bool = True, every: int = 1) -> ScriptedRun:
    """A weight whose l2 norm is scripted; it changes along one direction."""
    run = ScriptedRun()
    for i, size in enumerate(sizes):
        tensors = {WEIGHT: np.array([0.6, 0.8]) * size}
        run.step(tensors={**tensors, f"gradient/{WEIGHT}": np.ones(2)} if gradient else tensors, number=i * every)
    return run


class TestWeightUpdateRatio(RuleContract):
    rule = WeightUpdateRatio

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([1.0 + 0.01 * i for i in range(20)] + [20.0, 20.1]), 20

    def healthy(self) -> ScriptedRun:
        return run_with([1.0 + 0.01 * i for i in range(20)] + [12.0, 12.1])

    def test_its_evidence_names_both_sides(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where["tensor"] == WEIGHT
        assert found.evidence["value"] == pytest.approx((20 - 1.19) / 1.19)
        assert found.evidence["threshold"] == 10
        assert found.evidence["since"] == 19
        assert found.evidence["l2_before"] == pytest.approx(1.19)
        assert found.evidence["l2"] == pytest.approx(20)
        assert "more than 10 times its own size between step 19 and step 20" in found.message


class TestTooSmall(RuleContract):
    rule = WeightUpdateRatio
    arguments: ClassVar[dict[str, Any]] = {"small_threshold": 1e-3}

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([1.0, 1.1, 1.2, 1.2001, 1.3]), 3

    def healthy(self) -> ScriptedRun:
        return run_with([1.0, 1.1, 1.2, 1.202, 1.3])

    def test_it_says_so(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["threshold"] == 1e-3
        assert "less than 0.001 of its own size" in found.message


class TestOverSeveralSteps(RuleContract):
    rule = WeightUpdateRatio
    arguments: ClassVar[dict[str, Any]] = {"num_steps": 4, "large_threshold": 2.0, "small_threshold": 1e-6}

    def sick(self) -> tuple[ScriptedRun, int]:
        # No single step is large; from step 13 on the last four together are.
        return run_with([1.0 + 0.01 * i for i in range(11)] + [1.5, 2.0, 3.3, 4.0, 4.1]), 13

    def healthy(self) -> ScriptedRun:
        # There and back again: a long way, but not far.
        return run_with([1.0, 1.6] * 10)

    def test_standing_still_must_last_as_long(self) -> None:
        run = run_with([1.0, 1.2, 1.0, 1.0, 1.0, 1.0, 1.0])
        # The last change is that of step 2: four steps later it has left the comparison.
        assert [one.where["step"] for one in findings(WeightUpdateRatio(num_steps=4), run)] == [6]
        assert [one.where["step"] for one in findings(WeightUpdateRatio(), run)] == [3]


def test_steps_further_apart_than_num_steps_are_compared_with_the_last() -> None:
    run = run_with([1.0, 1.1, 50.0], every=100)
    (found,) = findings(WeightUpdateRatio(num_steps=10), run)
    assert (found.where["step"], found.evidence["since"]) == (200, 100)


def test_a_frozen_weight_is_left_out() -> None:
    run = ScriptedRun()
    for i in range(10):
        run.step(tensors={"frozen.weight": np.ones(2), WEIGHT: [1.0, i], f"gradient/{WEIGHT}": np.ones(2)})
    assert findings(WeightUpdateRatio(), run) == []


def test_a_weight_that_stands_still_with_a_gradient_is_not() -> None:
    (found,) = findings(WeightUpdateRatio(), run_with([1.0, 1.0]))
    assert found.where["step"] == 1


def test_in_a_run_without_gradients_every_weight_counts_as_trained() -> None:
    assert len(findings(WeightUpdateRatio(), run_with([1.0, 1.0], gradient=False))) == 1


def test_a_weight_that_is_unfrozen_is_judged_from_then_on() -> None:
    run = ScriptedRun()
    for i in range(10):
        gradient = {f"gradient/{WEIGHT}": np.ones(2)} if i >= 5 else {}
        run.step(
            tensors={WEIGHT: np.ones(2), "other.weight": [1.0, i], "gradient/other.weight": [1.0, 1.0], **gradient}
        )
    assert [one.where["step"] for one in findings(WeightUpdateRatio(), run)] == [6]


def test_a_weight_that_was_all_zero_has_no_ratio() -> None:
    assert findings(WeightUpdateRatio(), run_with([0.0, 1.0, 1.1])) == []


def test_epsilon_keeps_tiny_weights_quiet() -> None:
    run = run_with([1e-6, 1e-4])
    assert len(findings(WeightUpdateRatio(), run)) == 1
    assert findings(WeightUpdateRatio(epsilon=1e-3), run) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_steps": 0}, "`num_steps >= 1` must hold"),
        ({"large_threshold": -1}, "`large_threshold > 0` must hold"),
        ({"small_threshold": 20}, "`small_threshold < large_threshold` must hold"),
        ({"epsilon": 0}, "`epsilon > 0` must hold"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        WeightUpdateRatio(**arguments)
