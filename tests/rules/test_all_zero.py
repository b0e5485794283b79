"""AllZero."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.all_zero import AllZero
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

GRADIENT = "gradient/fc.weight"


def run_with(zeros: list[int], name: str = GRADIENT) -> ScriptedRun:
    """A tensor of ten values, so many of which are zero at each step."""
    run = ScriptedRun()
    for count in zeros:
        run.step(tensors={"fc.weight": np.ones(4), "fc.bias": np.zeros(4), name: [0.0] * count + [1.0] * (10 - count)})
    return run


class TestAllZero(RuleContract):
    rule = AllZero

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([3] * 10 + [10] * 5), 10

    def healthy(self) -> ScriptedRun:
        return run_with([3] * 10 + [9] * 5)

    def test_its_evidence_counts(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where == {"step": 10, "mode": "TRAIN", "tensor": GRADIENT}
        assert (found.evidence["zeros"], found.evidence["size"], found.evidence["value"]) == (10, 10, 100)
        assert found.message == "gradient/fc.weight is all zero at step 10: each of its 10 values."


def test_the_threshold_itself_is_too_much() -> None:
    run = run_with([0, 7, 8, 9])
    (found,) = findings(AllZero(threshold="80"), run)
    assert found.where["step"] == 2
    assert found.message == "gradient/fc.weight is zero at 80 % of its 10 values at step 2; 80 % is too much."
    assert findings(AllZero(threshold=91), run) == []


def test_weights_are_looked_at_and_biases_are_not() -> None:
    assert [one.where["tensor"] for one in findings(AllZero(), run_with([10], "a.weight"))] == ["a.weight"]
    assert findings(AllZero(), run_with([10], "a.bias")) == []


def test_collections_and_regex_are_a_union_in_place_of_the_default() -> None:
    run = run_with([10], "x_output_0")
    assert findings(AllZero(), run) == []
    assert len(findings(AllZero(tensor_regex="x_out"), run)) == 1
    (found,) = findings(AllZero(collection_names="biases", tensor_regex="x_out"), run)
    assert set(found.evidence["tensors"]) == {"fc.bias", "x_output_0"}
    assert findings(AllZero(collection_names="weights"), run) == []


def test_a_nan_is_no_zero() -> None:
    run = ScriptedRun()
    run.step(tensors={GRADIENT: [0.0, float("nan")]})
    assert findings(AllZero(), run) == []


def test_an_empty_tensor_is_not_all_zero() -> None:
    run = ScriptedRun()
    run.step(tensors={GRADIENT: np.empty(0)})
    assert findings(AllZero(), run) == []


def test_a_regex_without_tensors_says_so() -> None:
    with pytest.raises(InsufficientInformationForRuleInvocation, match="needs tensors that match 'nothing'"):
        findings(AllZero(tensor_regex="nothing"), run_with([1]))


@pytest.mark.parametrize("threshold", [0, 101, "many"])
def test_a_threshold_is_a_percentage(threshold: float | str) -> None:
    with pytest.raises(ConfigurationError, match="threshold"):
        AllZero(threshold=threshold)
