"""DeadUnits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.dead_units import DeadUnits
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

RELU = "relu2_output_0"


def run_with(shares: list[list[float]], mode: ModeKeys = ModeKeys.TRAIN) -> ScriptedRun:
    run = ScriptedRun()
    for row in shares:
        run.step(mode, tensors={RELU: np.ones((2, len(row)))}, active={RELU: row})
    return run


def firing(rule: DeadUnits, run: ScriptedRun) -> list[int]:
    return [one.where["step"] for one in findings(rule, run)]


class TestDeadUnits(RuleContract):
    rule = DeadUnits

    def sick(self) -> tuple[ScriptedRun, int]:
        # Channels 1 and 3 are positive for the last time at step 49.
        return run_with([[0.5, 0.1, 0.5, 0.2]] * 50 + [[0.5, 0.0, 0.5, 0.0]] * 120), 149

    def healthy(self) -> ScriptedRun:
        alive = [[0.5, 0.1, 0.5, 0.2]]
        return run_with(alive * 50 + [[0.5, 0.0, 0.5, 0.0]] * 99 + alive + [[0.5, 0.0, 0.5, 0.0]] * 99)

    def test_it_names_the_channels(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where["tensor"] == RELU
        assert (found.evidence["channels"], found.evidence["dead"], found.evidence["of"]) == ([1, 3], 2, 4)
        assert (found.evidence["value"], found.evidence["threshold"]) == (50, 25)
        assert found.message == (
            "2 of 4 channels of relu2_output_0 have not been positive once in the 100 steps up to step 149: 1, 3."
        )

    def test_it_says_which_argument_of_the_hook_it_needs(self) -> None:
        run = ScriptedRun()
        run.step(tensors={RELU: np.ones((2, 2))})
        with pytest.raises(InsufficientInformationForRuleInvocation, match=r'give `Hook\(channel_activity="relu"\)`'):
            findings(self.make(), run)


def test_a_channel_that_was_never_positive_is_dead_after_a_window() -> None:
    assert firing(DeadUnits(window=5), run_with([[0.0, 1.0]] * 4)) == []
    assert firing(DeadUnits(window="5"), run_with([[0.0, 1.0]] * 5)) == [4]


def test_what_was_counted_is_forgotten_when_it_starts_over() -> None:
    run, rule = run_with([[0.0, 1.0]] * 9), DeadUnits(window=5)
    assert firing(rule, run) == [4]
    rule.start_over()
    assert firing(rule, run) == [4]


def test_a_threshold_counts_hardly_positive_channels_as_silent() -> None:
    run = run_with([[0.01, 1.0]] * 5)
    assert firing(DeadUnits(window=5), run) == []
    (found,) = findings(DeadUnits(window=5, threshold=0.01), run)
    assert "have had at most 1 % positive values at each step in the 5 steps" in found.message


def test_evaluation_neither_counts_nor_revives() -> None:
    run = ScriptedRun()
    for i in range(8):
        run.step(ModeKeys.TRAIN, tensors={RELU: np.ones(2)}, active={RELU: [0.0, 1.0]})
        mode = ModeKeys.EVAL if i % 2 else ModeKeys.PREDICT
        run.step(mode, tensors={RELU: np.ones(2)}, active={RELU: [1.0, 1.0] if i < 4 else [0.0, 0.0]})
    (found,) = findings(DeadUnits(window=8), run)
    assert (found.where["step"], found.evidence["channels"]) == (14, [0])


def test_steps_without_a_mode_are_training() -> None:
    assert firing(DeadUnits(window=5), run_with([[0.0, 1.0]] * 5, ModeKeys.GLOBAL)) == [4]


def test_steps_without_recorded_activity_are_passed_over() -> None:
    run = ScriptedRun()
    for i in range(10):
        run.step(tensors={RELU: np.ones(2)}, active={RELU: [0.0, 1.0]} if i % 2 else None)
    assert firing(DeadUnits(window=5), run) == [9]


def test_another_number_of_channels_begins_anew() -> None:
    assert firing(DeadUnits(window=4), run_with([[0.0, 1.0]] * 3 + [[0.0, 1.0, 1.0]] * 4)) == [6]


def test_an_empty_batch_does_not_count_as_silence() -> None:
    nan = float("nan")
    assert firing(DeadUnits(window=3), run_with([[0.0], [0.0], [nan], [0.0], [0.0]])) == []


def test_each_tensor_is_told_of_by_its_own() -> None:
    run = ScriptedRun()
    for _ in range(5):
        run.step(tensors={"a_output_0": np.ones(1), RELU: np.ones(1)}, active={"a_output_0": [0.0], RELU: [1.0]})
    (found,) = findings(DeadUnits(window=5), run)
    assert found.where["tensor"] == "a_output_0"
    assert found.evidence.get("count") is None


def test_of_many_dead_channels_twenty_are_named() -> None:
    (found,) = findings(DeadUnits(window=1), run_with([[0.0] * 30 + [1.0]]))
    assert found.evidence["channels"] == list(range(20))
    assert found.evidence["dead"] == 30
    assert found.message.endswith("18, 19 and 10 more.")


def test_a_layer_that_is_all_dead_needs_no_list() -> None:
    (found,) = findings(DeadUnits(window=1), run_with([[0.0] * 3]))
    assert found.message.endswith(
        "3 of 3 channels of relu2_output_0 have not been positive once in the 1 steps up to step 0."
    )


def test_a_few_dead_channels_are_too_many_only_where_told_so() -> None:
    run = run_with([[0.0, 1.0, 1.0, 1.0]] * 5)
    assert firing(DeadUnits(window=5), run) == []
    assert firing(DeadUnits(window=5, threshold_layer="24.9"), run) == [4]
    assert firing(DeadUnits(window=5, threshold_layer=0), run) == [4]
    assert firing(DeadUnits(window=5, threshold_layer=0), run_with([[1.0] * 4] * 5)) == []


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=30), st.integers(1, 6))
def test_it_agrees_with_counting_step_by_step(alive: list[list[bool]], window: int) -> None:
    run = run_with([[float(one) for one in row] for row in alive])
    expected = [
        i >= window - 1 and any(not any(row[channel] for row in alive[i - window + 1 : i + 1]) for channel in range(3))
        for i in range(len(alive))
    ]
    for cut in {0, len(alive) // 2}:
        rule = DeadUnits(window=window)
        judged = [*rule.judge(run, 0, cut), *rule.judge(run, cut, len(alive))] if cut else [*rule.judge(run, 0, 99)]
        assert np.concatenate([one.fires[0] for one in judged]).tolist() == expected


@pytest.mark.parametrize("arguments", [{"window": 0}, {"threshold": -0.1}, {"threshold": 2}, {"threshold_layer": 101}])
def test_bad_arguments_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match="must hold"):
        DeadUnits(**arguments)  # type: ignore[arg-type]
