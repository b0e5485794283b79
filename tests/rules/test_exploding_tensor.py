"""ExplodingTensor."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.exploding_tensor import ExplodingTensor
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

NAN, INF = float("nan"), float("inf")
FINE = np.array([1.0, -2.0, 3.0])


def run_with(values: list[float], name: str = "fc.weight", *, save: bool = False) -> ScriptedRun:
    """A tensor whose middle value is scripted; all else is fine."""
    run = ScriptedRun()
    for i, value in enumerate(values):
        tensors = {"fc_output_0": FINE, "gradient/fc.weight": FINE, "fc.weight": FINE, name: [1.0, value, 3.0]}
        run.step(tensors=tensors, save=save, samples=[f"training/{i}"])
    return run


class TestExplodingTensor(RuleContract):
    rule = ExplodingTensor

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([0.0] * 20 + [INF] * 5 + [NAN] * 5), 20

    def healthy(self) -> ScriptedRun:
        return run_with([0.0] * 20 + [1e38] * 10)

    def test_it_is_an_error_with_counts_and_samples(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.severity == "error"
        assert found.where == {"step": 20, "mode": "TRAIN", "tensor": "fc.weight"}
        assert (found.evidence["nonfinite"], found.evidence["size"]) == (1, 3)
        assert found.evidence["samples"] == ["training/20"]
        assert found.message == "fc.weight has exploded at step 20: 1 of its 3 values are NaN or infinite."


def test_activations_are_named_before_gradients_and_these_before_weights() -> None:
    run, names = ScriptedRun(), ["a.weight", "gradient/a.weight", "z_output_0", "y_output_0"]
    run.step(tensors=dict.fromkeys(names, FINE))
    run.step(tensors=dict.fromkeys(names, np.array([NAN, 1.0, INF])))
    (found,) = findings(ExplodingTensor(), run)
    # Activations in the order of the forward pass, not of the alphabet.
    assert list(found.evidence["tensors"]) == ["z_output_0", "y_output_0", "gradient/a.weight", "a.weight"]
    assert found.where["tensor"] == "z_output_0"
    assert "The same begins in 3 more: y_output_0, gradient/a.weight, a.weight." in found.message


def test_only_the_chosen_tensors_are_looked_at() -> None:
    run = run_with([0.0, NAN])
    assert findings(ExplodingTensor(collection_names="gradients"), run) == []
    assert findings(ExplodingTensor(tensor_regex="output"), run) == []
    assert findings(ExplodingTensor(collection_names=["gradients"], tensor_regex="^fc.weight"), run) != []


class TestOnlyNan:
    def test_an_infinity_is_passed_over_and_a_nan_is_not(self) -> None:
        run = run_with([0.0] * 3 + [INF] * 3 + [NAN] * 3, save=True)
        (found,) = findings(ExplodingTensor(only_nan=True), run)
        assert found.where["step"] == 6
        assert "NaN among them" in found.message
        assert [one.where["step"] for one in findings(ExplodingTensor(only_nan="false"), run)] == [3]

    def test_it_is_silent_while_all_is_finite_although_nothing_was_saved(self) -> None:
        assert findings(ExplodingTensor(only_nan=True), run_with([0.0] * 5)) == []

    def test_without_full_values_it_says_what_it_needs(self) -> None:
        with pytest.raises(
            InsufficientInformationForRuleInvocation, match=r"'fc.weight' in full .* at step 2.*when_nan"
        ):
            findings(ExplodingTensor(only_nan=True), run_with([0.0, 0.0, NAN]))

    def test_values_that_were_saved_before_do_not_tell(self) -> None:
        run = run_with([0.0] * 3, save=True)
        run.step(tensors={"fc.weight": [1.0, NAN, 3.0]})
        with pytest.raises(InsufficientInformationForRuleInvocation):
            findings(ExplodingTensor(only_nan=True), run)

    def test_it_goes_on_once_a_later_step_has_them(self) -> None:
        run, rule = run_with([0.0, 0.0, NAN]), ExplodingTensor(only_nan=True)
        with pytest.raises(InsufficientInformationForRuleInvocation):
            findings(rule, run)
        run.step(tensors={"fc.weight": [1.0, NAN, 3.0]}, save=True)
        (found,) = findings(rule, run)
        assert found.where["step"] == 3

    def test_what_was_found_once_is_not_skipped_later(self) -> None:
        run, rule = run_with([0.0, NAN], save=True), ExplodingTensor(only_nan=True)
        assert len(findings(rule, run)) == 1
        run.step(tensors={"fc.weight": [1.0, NAN, 3.0]})
        assert findings(rule, run) == []


def test_a_wrong_flag_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="`only_nan` must be true or false"):
        ExplodingTensor(only_nan="perhaps")


class TestExplodingTensorWithMixedPrecision(RuleContract):
    """Gradients that overflow are skipped by the scaler; only where they never stop is something wrong."""

    rule = ExplodingTensor

    def scaled(self, overflows: int) -> ScriptedRun:
        run = ScriptedRun()
        for step in range(60):
            bad = INF if 5 <= step < 5 + overflows else 1.0
            tensors = {"gradient/fc.weight": [1.0, bad], "fc.weight": FINE, "loss_output_0": 0.5}
            run.step(tensors=tensors, scalars={"gradient_scale": 65536.0})
        return run

    def sick(self) -> tuple[ScriptedRun, int]:
        return self.scaled(overflows=40), 25

    def healthy(self) -> ScriptedRun:
        return self.scaled(overflows=20)

    def test_a_weight_that_explodes_counts_at_once(self) -> None:
        run = ScriptedRun()
        for step in range(10):
            bad = INF if step == 7 else 1.0
            run.step(tensors={"gradient/fc.weight": [1.0], "fc.weight": [bad]}, scalars={"gradient_scale": 8.0})
        assert [one.where["step"] for one in findings(self.make(), run)] == [7]
