"""PoorWeightInitialization."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.poor_weight_initialization import PoorWeightInitialization
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

LOSS = "CrossEntropyLoss_output_0"
STANDING = [2.31, 2.3, 2.32, 2.31, 2.33, 2.3, 2.31, 2.32, 2.3, 2.31, 2.3, 2.31, 2.32, 2.31, 2.3]
FALLING = [2.3 - 0.05 * i for i in range(15)]


def spread(width: float, count: int = 1_001) -> np.ndarray:
    """Return values that lie evenly over a width; 90 percent of them over nine tenths of it."""
    return np.linspace(-width / 2, width / 2, count)


def run_with(
    losses: list[float], layers: tuple[float, ...] = (1.0, 0.5), gradient: float = 0.1, *, save: bool = False
) -> ScriptedRun:
    """Return a run whose layers have inputs with these standard deviations."""
    run = ScriptedRun()
    for loss in losses:
        tensors = {f"relu{i}_input_0": np.array([-one, one]) for i, one in enumerate(layers)}
        tensors |= {"gradient/fc.weight": spread(gradient), LOSS: np.float64(loss)}
        run.step(tensors=tensors, save=save)
    return run


def steps(run: ScriptedRun, rule: PoorWeightInitialization | None = None) -> list[int]:
    return [one.where["step"] for one in findings(rule or PoorWeightInitialization(), run)]


class TestPoorWeightInitialization(RuleContract):
    rule = PoorWeightInitialization

    def sick(self) -> tuple[ScriptedRun, int]:
        # The loss is lowest at step 1; five steps later it is still not lower.
        return run_with(STANDING, layers=(1.0, 0.5, 0.25)), 6

    def healthy(self) -> ScriptedRun:
        return run_with(STANDING, layers=(1.0, 0.5, 0.32))

    def test_its_evidence_has_both_signs(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["value"] == found.evidence["variance_ratio"] == pytest.approx(16)
        assert found.evidence["threshold"] == 10
        assert found.evidence["gradient_range"] == pytest.approx(3.29 * 0.1 / np.sqrt(12), rel=0.01)
        assert found.evidence["gradient_range_estimated"] is True
        assert "at step 0 the variance of relu0_input_0 was 16 times that of relu2_input_0" in found.message


class TestGradients:
    def test_narrow_ones_are_a_sign(self) -> None:
        (found,) = findings(PoorWeightInitialization(), run_with(STANDING, gradient=0.0005))
        assert found.evidence["threshold"] == 0.001
        assert found.evidence["value"] == pytest.approx(3.29 * 0.0005 / np.sqrt(12), rel=0.01)
        assert "(estimated)" in found.message

    def test_of_saved_ones_the_percentiles_are_taken(self) -> None:
        (found,) = findings(PoorWeightInitialization(), run_with(STANDING, gradient=0.001, save=True))
        assert found.evidence["value"] == pytest.approx(0.0009)
        assert found.evidence["gradient_range_estimated"] is False
        assert "(estimated)" not in found.message
        assert steps(run_with(STANDING, gradient=0.0012, save=True)) == []

    def test_half_of_them_decide(self) -> None:
        # A bias before a normalisation has no gradient in any healthy training.
        run = ScriptedRun()
        for loss in STANDING:
            gradients = {f"gradient/{name}.weight": spread(0.1) for name in ("a", "b")}
            run.step(tensors={**gradients, "gradient/a.bias": np.full(9, 1e-9), LOSS: np.float64(loss)})
        assert steps(run) == []


class TestTheLossMustAgree:
    @pytest.mark.parametrize("arguments", [{"layers": (1.0, 0.01)}, {"gradient": 1e-6}])
    def test_signs_alone_do_not_count_while_it_falls(self, arguments: dict[str, object]) -> None:
        assert steps(run_with(FALLING, **arguments)) == []  # type: ignore[arg-type]
        assert steps(run_with(STANDING, **arguments)) == [6]  # type: ignore[arg-type]

    def test_a_loss_that_stands_alone_does_not_count(self) -> None:
        assert steps(run_with(STANDING)) == []

    def test_only_the_first_steps_are_looked_at(self) -> None:
        assert steps(run_with(FALLING[:9] + STANDING, layers=(1.0, 0.01))) == []

    def test_a_loss_that_is_not_a_number_does_not_fall(self) -> None:
        assert steps(run_with([2.3] + [float("nan")] * 14, layers=(1.0, 0.01))) == [5]

    def test_validation_before_the_training_is_no_part_of_it(self) -> None:
        run = ScriptedRun()
        for loss in STANDING:
            run.step(
                ModeKeys.EVAL, tensors={LOSS: np.float64(loss), "relu0_input_0": spread(1), "gradient/a": spread(1)}
            )
        for loss in FALLING:
            tensors = {"relu0_input_0": spread(1), "relu1_input_0": spread(9), LOSS: np.float64(loss)}
            run.step(tensors={**tensors, "gradient/a": spread(1e-9)})
        assert steps(run) == []


def test_a_layer_without_any_variance_is_infinitely_unlike() -> None:
    (found,) = findings(PoorWeightInitialization(), run_with(STANDING, layers=(1.0, 0.0)))
    assert found.evidence["variance_ratio"] == "inf"


def test_gradients_of_nothing_but_zeros_are_no_sign_for_something_else_lets_none_through() -> None:
    assert steps(run_with(STANDING, layers=(0.0, 0.0), gradient=0.0)) == []
    assert steps(run_with(STANDING, layers=(0.0, 0.0), gradient=1e-9)) != []


def test_what_the_first_updates_did_is_not_the_initialisations_fault() -> None:
    run = ScriptedRun()
    for i, loss in enumerate(STANDING):
        inputs = {"relu0_input_0": spread(1), "relu1_input_0": spread(1 if i < 3 else 0)}
        run.step(tensors={**inputs, "gradient/a": spread(1 if i < 3 else 0), LOSS: np.float64(loss)})
    assert steps(run) == []


class TestNeeds:
    def test_either_sign_will_do(self) -> None:
        run = ScriptedRun()
        for loss in STANDING:
            run.step(tensors={LOSS: np.float64(loss), "gradient/a": spread(1e-9)})
        assert steps(run) == [6]

    def test_none_will_not(self) -> None:
        run = ScriptedRun()
        run.step(tensors={LOSS: np.float64(1.0)})
        with pytest.raises(InsufficientInformationForRuleInvocation, match="needs collection 'relu_inputs' or"):
            findings(PoorWeightInitialization(), run)

    def test_nor_without_a_loss(self) -> None:
        run = ScriptedRun()
        run.step(tensors={"gradient/a": spread(1)})
        with pytest.raises(InsufficientInformationForRuleInvocation, match="needs a loss"):
            findings(PoorWeightInitialization(), run)


class TestParameters:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"threshold": 17}, []),
            ({"threshold": 15}, [6]),
            ({"patience": 3}, [4]),
            ({"patience": 9}, []),
            ({"patience": 9, "steps": 15}, [10]),
            ({"steps": 6}, []),
            ({"distribution_range": 1.0, "threshold": 17}, [6]),
            ({"activation_inputs_regex": "relu[01]_input"}, []),
        ],
    )
    def test_each_has_an_effect(self, arguments: dict[str, object], expected: list[int]) -> None:
        run = run_with(STANDING, layers=(1.0, 0.5, 0.25))
        assert steps(run, PoorWeightInitialization(**arguments)) == expected  # type: ignore[arg-type]

    @pytest.mark.parametrize("arguments", [{"threshold": 1}, {"distribution_range": 0}, {"patience": 0}, {"steps": 0}])
    def test_bad_ones_are_refused(self, arguments: dict[str, float]) -> None:
        with pytest.raises(ConfigurationError, match="must hold"):
            PoorWeightInitialization(**arguments)  # type: ignore[arg-type]
