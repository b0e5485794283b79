"""SaturatedActivation."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.saturated_activation import SaturatedActivation
from cutaway.tensors.collections import Collections
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

TANH, SIGMOID = "tanh_input_0", "sigmoid_input_0"


def layer(saturated: int, by: float = 10.0) -> np.ndarray:
    """Inputs of eight units for four samples: so many units always outside the bounds, on either side."""
    value = np.full((4, 8), 0.5)
    value[::2, :saturated] = by
    value[1::2, :saturated] = -by
    return value


def run_with(saturated: list[int], *, save: bool = True) -> ScriptedRun:
    run = ScriptedRun()
    for count in saturated:
        run.step(tensors={TANH: layer(count)}, save=save)
    return run


def one_step(name: str, value: np.ndarray, *, save: bool = False) -> ScriptedRun:
    run = ScriptedRun()
    run.step(tensors={name: value}, save=save)
    return run


class TestFromFullValues(RuleContract):
    rule = SaturatedActivation

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([2] * 10 + [5] * 5), 10

    def healthy(self) -> ScriptedRun:
        return run_with([2] * 10 + [4] * 5)

    def test_its_evidence_counts_units(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where["tensor"] == TANH
        assert (found.evidence["value"], found.evidence["threshold"], found.evidence["units"]) == (62.5, 50, 8)
        assert found.evidence["from"] == "full values"
        assert found.message.startswith("5 of 8 units of tanh_input_0 are saturated at step 10: their inputs to tanh")


class TestFromStatisticsAlone(RuleContract):
    rule = SaturatedActivation

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([2] * 10 + [8] * 5, save=False), 10

    def healthy(self) -> ScriptedRun:
        # Seven of eight units are saturated, which nobody can know.
        return run_with([2] * 10 + [7] * 5, save=False)

    def test_it_says_all_units(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.message.startswith("All units of tanh_input_0 are saturated at step 10")
        assert found.evidence["from"] == "minimum and maximum"
        assert (found.evidence["min"], found.evidence["max"]) == (-10, 10)


@pytest.mark.parametrize("save", [True, False])
@pytest.mark.parametrize(
    ("name", "value", "fires"),
    [
        (TANH, 9.5, True),
        (TANH, -9.5, True),
        (TANH, 9.4, False),
        (SIGMOID, 17.0, True),
        (SIGMOID, 16.9, False),
        (SIGMOID, -22.9, False),
        (SIGMOID, -23.1, True),
        ("Sigmoid2_input_0", 10.0, False),
    ],
)
def test_each_function_has_its_own_bounds(name: str, value: float, fires: bool, save: bool) -> None:
    rule = SaturatedActivation(tensor_regex="_input_")
    assert len(findings(rule, one_step(name, np.full((2, 3), value), save=save))) == fires


def test_bounds_can_be_moved() -> None:
    tanh, sigmoid = one_step(TANH, np.full((2, 2), 5.0)), one_step(SIGMOID, np.full((2, 2), -5.0))
    assert findings(SaturatedActivation(), tanh) == findings(SaturatedActivation(), sigmoid) == []
    assert len(findings(SaturatedActivation(threshold_tanh_max="4"), tanh)) == 1
    assert len(findings(SaturatedActivation(threshold_sigmoid_min=-4), sigmoid)) == 1
    assert findings(SaturatedActivation(threshold_tanh_min=-4, threshold_sigmoid_max=4), tanh) == []


def test_thresholds_move_what_is_saturated_and_how_much_is_too_much() -> None:
    value = layer(5)
    value[0, :5] = 0  # a quarter of the inputs is inside
    run = one_step(TANH, value, save=True)
    assert findings(SaturatedActivation(threshold_inactivity=25), run) == []
    assert len(findings(SaturatedActivation(threshold_inactivity=26), run)) == 1
    assert findings(SaturatedActivation(threshold_inactivity=26, threshold_layer=62.5), run) == []


def test_a_nan_leaves_statistics_uncertain() -> None:
    value = np.full((2, 2), 50.0)
    value[0, 0] = np.nan
    assert findings(SaturatedActivation(), one_step(TANH, value)) == []


def test_collections_tell_the_function_whatever_the_name() -> None:
    collections = Collections()
    collections.get("tanh_inputs").include("^a_input")
    collections.get("sigmoid_inputs").include("^b_input")
    run = ScriptedRun(collections)
    run.step(tensors={"a_input_0": np.full((2, 2), 12.0), "b_input_0": np.full((2, 2), 12.0)})
    (found,) = findings(SaturatedActivation(), run)
    assert found.where["tensor"] == "a_input_0"
    assert found.evidence.get("count") is None


def test_a_run_without_such_inputs_says_what_to_add() -> None:
    with pytest.raises(InsufficientInformationForRuleInvocation, match="Add 'tanh_inputs', 'sigmoid_inputs'"):
        findings(SaturatedActivation(), one_step("fc.weight", np.ones(2)))


def test_bounds_must_be_in_order() -> None:
    with pytest.raises(ConfigurationError, match="`threshold_sigmoid_min < threshold_sigmoid_max` must hold"):
        SaturatedActivation(threshold_sigmoid_min=20)
