"""DeadRelu."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.dead_relu import DeadRelu
from cutaway.tensors.collections import Collections
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from cutaway.trial import create_trial

RELU = "relu_output_0"
UNITS = 8


def layer(dead: int, batch: int = 4) -> np.ndarray:
    """What a layer of units gives for a batch, so many of them zero for every sample, the others for half of them."""
    value = np.ones((batch, UNITS))
    value[::2] = 0
    value[:, :dead] = 0
    return value


def run_with(deads: list[int], how: str, name: str = RELU) -> ScriptedRun:
    run = ScriptedRun()
    for dead in deads:
        active = {name: [0.0] * dead + [0.5] * (UNITS - dead)} if how == "active" else None
        run.step(tensors={name: layer(dead), "fc.weight": np.ones(2)}, save=how == "save", active=active)
    return run


class FromActivity(RuleContract):
    rule = DeadRelu
    how = "active"
    told = "channel activity"

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([2] * 10 + [5] * 5, self.how), 10

    def healthy(self) -> ScriptedRun:
        return run_with([2] * 10 + [4] * 5, self.how)

    def test_its_evidence_says_how_it_knows(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["from"] == self.told
        assert found.evidence["units"] == UNITS
        assert found.evidence["value"] == 62.5
        assert found.evidence["threshold"] == 50
        assert found.message.startswith("5 of 8 units of relu_output_0 are dead at step 10: fewer than 1 %")


class TestFromActivity(FromActivity):
    pass


class TestFromFullValues(FromActivity):
    how = "save"
    told = "full values"


class TestFromStatisticsAlone(RuleContract):
    rule = DeadRelu

    def sick(self) -> tuple[ScriptedRun, int]:
        run = ScriptedRun()
        for i in range(20):
            value = np.zeros((1000, UNITS))
            value[: 30 if i < 10 else 2] = 1
            run.step(tensors={RELU: value})
        return run, 10

    def healthy(self) -> ScriptedRun:
        # Five of eight units are dead, but their zeros might as well be spread over all units.
        return run_with([2] * 10 + [5] * 5, "")

    def test_it_says_at_least(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["from"] == "share of zeros"
        assert found.evidence["value"] == pytest.approx(80)
        assert "units" not in found.evidence
        assert found.message.startswith("At least 80 % of the units of relu_output_0 are dead at step 10")


@given(arrays(np.float64, (50, 4), elements=st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0])), st.floats(0.5, 100))
def test_the_bound_from_statistics_is_never_above_the_truth(value: np.ndarray, inactivity: float) -> None:
    from_statistics, from_values = ScriptedRun(), ScriptedRun()
    from_statistics.step(tensors={RELU: value})
    from_values.step(tensors={RELU: value}, save=True)
    rule = DeadRelu(threshold_inactivity=inactivity)
    (bound,), (truth,) = (list(rule.judge(run, 0, 1)) for run in (from_statistics, from_values))
    assert bound.value[0, 0] <= truth.value[0, 0] + 1e-9


def test_a_layer_without_a_positive_value_is_all_dead() -> None:
    run = ScriptedRun()
    run.step(tensors={RELU: -np.ones((4, 4))})
    (found,) = findings(DeadRelu(), run)
    assert found.evidence["value"] == 100


def test_steps_with_and_without_activity_are_each_judged_by_what_they_have() -> None:
    run = ScriptedRun()
    for i in range(6):
        active = {RELU: [0.0] * 6 + [1.0] * 2} if i % 3 == 2 else None
        run.step(tensors={RELU: layer(6)}, save=i % 3 == 1, active=active)
    (judged,) = DeadRelu().judge(run, 0, 6)
    assert judged.value[0].tolist() == [0, 75, 75, 0, 75, 75]
    assert [judged.evidence(0, i)["from"] for i in range(3)] == ["share of zeros", "full values", "channel activity"]


def test_activity_of_different_lengths_is_judged_step_by_step() -> None:
    run = ScriptedRun()
    for shares in ([0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0]):
        run.step(tensors={RELU: [0.0, 1.0]}, active={RELU: shares})
    (judged,) = DeadRelu().judge(run, 0, 3)
    assert judged.value[0] == pytest.approx([50, 200 / 3, 0])


def test_a_share_at_the_threshold_is_alive_in_memory_and_in_a_run_folder(tmp_path: Path) -> None:
    # A hundredth is a little less than a hundredth in single precision, which is what a run keeps.
    run = ScriptedRun()
    run.step(tensors={RELU: layer(0)}, active={RELU: [0.01] * UNITS})
    run.write(tmp_path / "run")
    assert findings(DeadRelu(), run) == findings(DeadRelu(), create_trial(tmp_path / "run")) == []


def test_channels_lie_along_axis_one_of_an_image() -> None:
    value = np.zeros((2, 4, 3, 3))
    value[:, 3] = 1
    run = ScriptedRun()
    run.step(tensors={RELU: value}, save=True)
    (found,) = findings(DeadRelu(), run)
    assert (found.evidence["units"], found.evidence["value"]) == (4, 75)


def test_thresholds_move_what_is_dead_and_how_much_is_too_much() -> None:
    run = run_with([5], "active")
    assert findings(DeadRelu(threshold_layer=62.5), run) == []
    assert len(findings(DeadRelu(threshold_layer="62"), run)) == 1
    run = run_with([0], "active")
    assert findings(DeadRelu(threshold_inactivity=50), run) == []
    assert len(findings(DeadRelu(threshold_inactivity=51), run)) == 1


def test_the_collection_of_relus_is_looked_at_beside_the_default_regex_only() -> None:
    collections = Collections()
    collections.get("relu_outputs").include("^act1_output")
    run = ScriptedRun(collections)
    run.step(tensors={"act1_output_0": layer(8), RELU: layer(8)}, save=True)
    (found,) = findings(DeadRelu(), run)
    assert set(found.evidence["tensors"]) == {"act1_output_0", RELU}
    (found,) = findings(DeadRelu(tensor_regex="^relu"), run)
    assert found.where["tensor"] == RELU
    assert found.evidence.get("count") is None


def test_a_run_without_relus_says_what_to_add() -> None:
    run = ScriptedRun()
    run.step(tensors={"fc.weight": np.ones(2)})
    with pytest.raises(InsufficientInformationForRuleInvocation, match=r"Add 'relu_outputs' to the hook's"):
        findings(DeadRelu(), run)


@pytest.mark.parametrize(
    "arguments", [{"threshold_inactivity": 0}, {"threshold_inactivity": 101}, {"threshold_layer": -1}]
)
def test_bad_arguments_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match="must hold"):
        DeadRelu(**arguments)
