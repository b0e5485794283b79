"""UnchangedTensor."""

from typing import Any, ClassVar

import numpy as np
import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.unchanged_tensor import UnchangedTensor
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

WEIGHT, OUTPUT = "fc.weight", "fc_output_0"
NAN = float("nan")


def run_with(values: list[list[float]], name: str = WEIGHT) -> ScriptedRun:
    run = ScriptedRun()
    for value in values:
        run.step(tensors={name: value, f"gradient/{name}": np.ones(2)})
    return run


def steps(rule: UnchangedTensor, run: ScriptedRun) -> list[int]:
    return [one.where["step"] for one in findings(rule, run)]


class TestUnchangedWeight(RuleContract):
    rule = UnchangedTensor

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([[1.0, i] for i in range(10)] + [[1.0, 9.0]] * 5), 11

    def healthy(self) -> ScriptedRun:
        return run_with([[1.0, i] for i in range(10)] + [[1.0, 9.0], [1.0, 9.1]] * 5)

    def test_its_evidence_says_since_when(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where["tensor"] == WEIGHT
        assert (found.evidence["since"], found.evidence["value"], found.evidence["compared"]) == (9, 0, "change")
        assert found.message == "fc.weight has not changed in its last 3 recorded values, from step 9 to step 11."


class TestUnchangedActivation(RuleContract):
    rule = UnchangedTensor
    arguments: ClassVar[dict[str, Any]] = {"tensor_regex": f"^{OUTPUT}", "num_steps": 4}

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([[1.0, i] for i in range(10)] + [[1.0, 9.0]] * 5, OUTPUT), 12

    def healthy(self) -> ScriptedRun:
        return run_with([[1.0, i] for i in range(10)] + [[1.0, 9.0], [1.0, 9.0], [1.0, 9.01]] * 5, OUTPUT)

    def test_its_evidence_says_that_statistics_were_compared(self) -> None:
        assert findings(self.make(), self.sick()[0])[0].evidence["compared"] == "statistics"


def test_values_need_not_be_of_consecutive_steps() -> None:
    run = ScriptedRun()
    for i in range(30):
        run.step(tensors={OUTPUT: [1.0, 2.0]} if i % 10 == 0 else {"x": [i]})
    assert steps(UnchangedTensor(tensor_regex=f"^{OUTPUT}"), run) == [20]


def test_the_same_values_in_another_order_look_unchanged() -> None:
    run = run_with([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]], OUTPUT)
    assert steps(UnchangedTensor(tensor_regex=f"^{OUTPUT}"), run) == [2]
    # Of a weight the change itself is known.
    assert steps(UnchangedTensor(), run_with([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])) == []


@pytest.mark.parametrize("name", [WEIGHT, OUTPUT])
def test_tolerances_widen_what_is_unchanged(name: str) -> None:
    run = run_with([[1.0, 2.0], [1.0, 2.0001], [1.0, 2.0002]], name)
    assert steps(UnchangedTensor(tensor_regex=f"^{name}"), run) == []
    assert steps(UnchangedTensor(tensor_regex=f"^{name}", rtol="1e-3"), run) == [2]
    assert steps(UnchangedTensor(tensor_regex=f"^{name}", rtol=0, atol=1e-3), run) == [2]
    assert steps(UnchangedTensor(tensor_regex=f"^{name}", rtol=0, atol=1e-5), run) == []


@pytest.mark.parametrize("name", [WEIGHT, OUTPUT])
def test_nan_is_a_change_unless_told_otherwise(name: str) -> None:
    run = run_with([[1.0, NAN]] * 3, name)
    assert steps(UnchangedTensor(tensor_regex=f"^{name}"), run) == []
    assert steps(UnchangedTensor(tensor_regex=f"^{name}", equal_nan="true"), run) == [2]
    assert (
        steps(UnchangedTensor(tensor_regex=f"^{name}", equal_nan=True), run_with([[1.0, NAN], [NAN, NAN]] * 3, name))
        == []
    )


def test_nothing_but_nan_is_a_change_unless_told_otherwise() -> None:
    run = run_with([[NAN, NAN]] * 3, OUTPUT)
    assert steps(UnchangedTensor(tensor_regex=f"^{OUTPUT}"), run) == []
    assert steps(UnchangedTensor(tensor_regex=f"^{OUTPUT}", equal_nan=True), run) == [2]


def test_by_default_a_weight_without_a_gradient_is_frozen_on_purpose() -> None:
    run = ScriptedRun()
    for i in range(5):
        run.step(tensors={"frozen.weight": np.ones(2), "fc.weight": [1.0, i], "gradient/fc.weight": np.ones(2)})
    assert steps(UnchangedTensor(), run) == []
    assert steps(UnchangedTensor(collection_names=["weights"]), run) == [2]


def test_another_size_is_a_change() -> None:
    run = run_with([[0.0], [0.0, 0.0], [0.0], [0.0, 0.0]], OUTPUT)
    assert steps(UnchangedTensor(tensor_regex=f"^{OUTPUT}"), run) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_steps": 1}, "`num_steps >= 2` must hold"),
        ({"rtol": -1}, "`rtol >= 0` must hold"),
        ({"atol": "x"}, "`atol` must be a number"),
        ({"tensor_regex": "("}, "tensor_regex"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        UnchangedTensor(**arguments)  # type: ignore[arg-type]
