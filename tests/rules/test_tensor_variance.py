"""TensorVariance."""

from typing import Any, ClassVar

import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.tensor_variance import TensorVariance
from cutaway.testing.rules import RuleContract, ScriptedRun, findings


def run_with(deviations: list[float], name: str = "fc.weight") -> ScriptedRun:
    run = ScriptedRun()
    for deviation in deviations:
        run.step(tensors={name: [5.0 - deviation, 5.0 + deviation], "fc_output_0": [0.0, 20.0]})
    return run


class TestTooMuch(RuleContract):
    rule = TensorVariance
    arguments: ClassVar[dict[str, Any]] = {"max_threshold": 4.0}

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([1.0] * 10 + [2.1] * 5), 10

    def healthy(self) -> ScriptedRun:
        return run_with([1.0] * 10 + [2.0] * 5)

    def test_its_evidence_has_the_variance(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["value"] == pytest.approx(4.41)
        assert (found.evidence["threshold"], found.evidence["mean"]) == (4, 5)
        assert found.message == "The variance of fc.weight at step 10 is 4.41, above 4."


class TestTooLittle(RuleContract):
    rule = TensorVariance
    arguments: ClassVar[dict[str, Any]] = {"min_threshold": 0.25, "max_threshold": 4.0}

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([1.0] * 10 + [0.4] * 5), 10

    def healthy(self) -> ScriptedRun:
        return run_with([1.0] * 10 + [0.5] * 5)

    def test_its_evidence_has_the_threshold_that_it_passed(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["threshold"] == 0.25
        assert found.message.endswith("below 0.25.")


def test_other_tensors_are_looked_at_where_chosen() -> None:
    assert findings(TensorVariance(max_threshold=50), run_with([1.0])) == []
    (found,) = findings(TensorVariance(max_threshold=50, collection_names="outputs"), run_with([1.0]))
    assert found.where["tensor"] == "fc_output_0"
    (found,) = findings(TensorVariance(max_threshold=0.5, tensor_regex="^fc"), run_with([1.0]))
    assert set(found.evidence["tensors"]) == {"fc_output_0", "fc.weight"}


def test_a_single_value_has_no_variance() -> None:
    run = ScriptedRun()
    run.step(tensors={"scale.weight": [3.0], "fc.weight": [1.0, 2.0]})
    assert findings(TensorVariance(min_threshold=0.1), run) == []


def test_values_too_large_to_square_are_above_every_threshold() -> None:
    assert len(findings(TensorVariance(max_threshold=1e300), run_with([1e200]))) == 1


def test_without_a_threshold_it_says_how_to_give_one() -> None:
    with pytest.raises(InsufficientInformationForRuleInvocation, match=r"--param TensorVariance.max_threshold="):
        findings(TensorVariance(), run_with([1.0]))


def test_a_threshold_of_zero_is_one() -> None:
    assert len(findings(TensorVariance(max_threshold=0), run_with([1.0]))) == 1


@pytest.mark.parametrize("arguments", [{"max_threshold": -1}, {"min_threshold": 2, "max_threshold": 1}])
def test_bad_arguments_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match="must hold"):
        TensorVariance(**arguments)
