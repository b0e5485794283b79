"""The base class of all rules, and `invoke_rule`."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.errors import (
    ConfigurationError,
    InsufficientInformationForRuleInvocation,
    NoMoreData,
    RuleEvaluationConditionMet,
    TensorUnavailable,
    TensorUnavailableForStep,
)
from cutaway.rules import Judgement, RequiredTensors, Rule, invoke_rule
from cutaway.rules.arguments import Number
from cutaway.rules.selecting import selected
from cutaway.tensors.reader import TensorReader
from cutaway.testing.rules import ScriptedRun, findings
from cutaway.trial import Trial, create_trial

LOSS = "loss_output_0"


class LargeLoss(Rule):
    """A rule as upstream knows them."""

    def __init__(self, base_trial: Trial | None = None, action_str: str | None = None, limit: float = 10) -> None:
        super().__init__(base_trial, action_str)
        self.limit = float(limit)
        self.asked: list[int] = []

    def invoke_at_step(self, step: int) -> bool:
        assert self.base_trial is not None
        self.asked.append(step)
        return bool(self.base_trial.tensor(LOSS).value(step) > self.limit)


class LargeTensor(Rule):
    """A rule over windows that keeps something between them."""

    rest = 5

    def __init__(self, base_trial: Trial | None = None, action_str: str | None = None, limit: float = 10) -> None:
        super().__init__(base_trial, action_str)
        self.limit = float(limit)
        self.reset()

    def reset(self) -> None:
        self.windows: list[tuple[int, int]] = []

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        names = selected(reader, tensor_regex="output")
        self.windows.append((start, stop))
        for block in reader.statistics_blocks(names, start, stop):
            value = block["max"]
            yield Judgement(
                block.names,
                block.steps,
                value > self.limit,
                value,
                self.limit,
                lambda tensor, step, block=block: f"{block.names[tensor]} is large at step {block.steps[step]}.",  # type: ignore[misc]
                lambda tensor, _: {"place": tensor},
            )


@dataclass(eq=False, repr=False, kw_only=True)
class SmallTensor(Rule):
    """A rule that declares its argument."""

    limit: Number = Number(0.5, above=0)  # noqa: RUF009 - a descriptor

    def invoke_at_step(self, step: int) -> bool:
        return step > self.limit


def run_of(values: list[float], *, saved_every: int = 1, more: tuple[str, ...] = ()) -> ScriptedRun:
    run = ScriptedRun()
    for step, value in enumerate(values):
        tensors = dict.fromkeys((LOSS, *more), np.array(value))
        run.step(tensors=tensors, save=step % saved_every == 0, samples=[f"training/{step}"])
    return run


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """Ten steps, the loss is large at 4 and 5; full values at even steps."""
    run_of([1, 1, 1, 1, 20, 20, 1, 1, 1, 1], saved_every=2).write(tmp_path / "run")
    return create_trial(tmp_path / "run")


class TestOfSubclasses:
    def test_one_that_defines_neither_way_of_looking_is_refused_at_once(self) -> None:
        with pytest.raises(TypeError, match=r"Empty must define `invoke_at_step\(self, step\)` or `judge"):
            type("Empty", (Rule,), {})

    def test_one_that_inherits_a_way_of_looking_is_fine(self) -> None:
        assert type("Larger", (LargeLoss,), {})().rule_name == "Larger"

    def test_its_parameters_are_the_arguments_that_it_adds(self) -> None:
        rule = LargeLoss(limit=3)
        assert rule.parameter_names() == ["limit"]
        assert rule.parameters == {"limit": 3.0}
        assert repr(rule) == "LargeLoss(limit=3.0)"

    def test_those_of_a_dataclass_are_its_fields_read_from_texts(self) -> None:
        rule = SmallTensor(limit="3")
        assert (rule.limit, SmallTensor().limit) == (3.0, 0.5)
        assert rule.parameters == {"limit": 3.0}
        with pytest.raises(ConfigurationError, match=r"`limit > 0` must hold, but got limit=0"):
            SmallTensor(limit=0)

    def test_without_a_run_it_says_so(self) -> None:
        with pytest.raises(ConfigurationError, match=r"LargeLoss needs a run to look at: `LargeLoss\(create_trial"):
            LargeLoss().invoke(0)
        with pytest.raises(ConfigurationError, match="LargeTensor needs a run"):
            LargeTensor().invoke_at_step(0)


class TestOfLooking:
    def test_steps_in_the_way_of_upstream_become_findings(self, trial: Trial) -> None:
        rule = LargeLoss(trial)
        (found,) = findings(rule, trial)
        assert (found.code, found.message) == ("LargeLoss", "LargeLoss fired at step 4.")
        assert found.where == {"step": 4, "mode": "TRAIN"}
        assert found.evidence["samples"] == ["training/4"]

    def test_steps_without_the_tensor_are_passed_over(self, trial: Trial) -> None:
        rule = LargeLoss(trial)
        findings(rule, trial)
        assert rule.asked == list(range(10))
        assert rule.report["Datapoints"] == 5
        assert "step 9" in rule.unavailable

    def test_whether_a_window_rule_fires_at_a_step_can_be_asked(self, trial: Trial) -> None:
        rule = LargeTensor(trial)
        assert [step for step in range(10) if rule.invoke_at_step(step)] == [4, 5]
        assert rule.windows == [(step, step + 1) for step in range(10)]

    def test_asking_for_an_earlier_step_starts_over(self, trial: Trial) -> None:
        rule = LargeTensor(trial)
        assert not rule.invoke_at_step(9)
        assert rule.invoke_at_step(4)
        assert rule.windows == [(0, 5)]

    def test_invoking_one_step_raises_where_it_fires(self, trial: Trial) -> None:
        for rule in (LargeLoss(trial), LargeTensor(trial)):
            rule.invoke(2)
            with pytest.raises(RuleEvaluationConditionMet) as caught:
                rule.invoke(4)
            assert (caught.value.rule_name, caught.value.step) == (rule.rule_name, 4)

    def test_one_finding_names_all_that_begins_at_a_step(self) -> None:
        run = run_of([1, 20, 20], more=tuple(f"x{i}_output_0" for i in range(6)))
        (found,) = findings(LargeTensor(), run)
        assert found.where["tensor"] == LOSS
        assert found.message == (
            f"{LOSS} is large at step 1. The same begins in 6 more: x0_output_0, x1_output_0, x2_output_0, x3_output_0 "
            "and 2 others."
        )
        assert found.evidence["count"] == 7
        assert found.evidence["tensors"][LOSS] == 20
        assert (found.evidence["value"], found.evidence["threshold"], found.evidence["place"]) == (20, 10, 0)
        assert found.evidence["parameters"] == {"limit": 10.0}

    def test_a_sickness_is_told_once_and_again_after_a_rest(self) -> None:
        run = run_of([20, 20, 1, 20, 1, 1, 1, 1, 1, 20])
        assert [one.where["step"] for one in findings(LargeTensor(), run)] == [0, 9]

    def test_findings_have_ids_of_rule_parameters_and_step(self) -> None:
        run = run_of([1, 20])
        (first,), (again,) = findings(LargeTensor(), run), findings(LargeTensor(), run)
        (other,) = findings(LargeTensor(limit=11), run)
        assert first.id == again.id != other.id

    def test_starting_over_forgets_everything(self) -> None:
        run, rule = run_of([1, 20]), LargeTensor()
        once = findings(rule, run)
        assert rule.next_step == 2
        rule.start_over()
        assert (rule.next_step, rule.windows) == (0, [])
        assert [one.id for one in findings(rule, run)] == [one.id for one in once]

    def test_what_a_run_lacks_leaves_the_rule_where_it_was(self) -> None:
        run, rule = ScriptedRun(), LargeTensor()
        run.step(scalars={"x": 1.0})
        with pytest.raises(InsufficientInformationForRuleInvocation, match="needs tensors that match 'output'"):
            findings(rule, run)
        assert (rule.next_step, rule.windows, rule.report["Datapoints"]) == (0, [], 0)
        run.step(tensors={LOSS: np.array(20.0)})
        assert [one.where["step"] for one in findings(rule, run)] == [1]

    def test_the_report_counts_what_was_judged_and_what_fired(self, trial: Trial) -> None:
        rule = LargeTensor(trial)
        findings(rule, trial, 5)
        findings(rule, trial, 10)
        assert rule.report == {
            "RuleTriggered": 1,
            "Violations": 2,
            "Details": {"step_num": 5},
            "Datapoints": 10,
            "RuleParameters": "limit:10.0",
        }


class TestOfInvoking:
    def test_it_ends_when_there_is_no_more_data(self, trial: Trial, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level("INFO", "cutaway.rules")
        rule = LargeLoss(trial)
        with pytest.raises(NoMoreData):
            invoke_rule(rule)
        assert rule.asked == list(range(10))
        assert [record.getMessage() for record in caplog.records] == ["Rule LargeLoss fired at step 4"]

    def test_the_end_is_exclusive(self, trial: Trial) -> None:
        rule = LargeLoss(trial)
        invoke_rule(rule, end_step=4, raise_eval_cond=True)
        assert rule.asked == [0, 1, 2, 3]
        with pytest.raises(RuleEvaluationConditionMet) as caught:
            invoke_rule(rule, end_step=5, raise_eval_cond=True)
        assert caught.value.step == 4

    def test_what_fires_before_the_start_is_not_told(self, trial: Trial) -> None:
        invoke_rule(LargeLoss(trial), start_step=5, end_step=10, raise_eval_cond=True)
        with pytest.raises(RuleEvaluationConditionMet) as caught:
            invoke_rule(LargeTensor(trial), start_step=5, end_step=10, raise_eval_cond=True)
        assert caught.value.step == 5

    def test_an_end_beyond_the_last_step_ends_with_no_more_data(self, trial: Trial) -> None:
        with pytest.raises(NoMoreData):
            invoke_rule(LargeTensor(trial), end_step=11)

    def test_it_waits_for_steps_to_come(self, tmp_path: Path) -> None:
        run = run_of([1])
        run.begin(tmp_path / "run")
        rule = LargeLoss(create_trial(tmp_path / "run"))
        ended: list[BaseException] = []

        def invoke() -> None:
            try:
                invoke_rule(rule, raise_eval_cond=True)
            except RuleEvaluationConditionMet as error:
                ended.append(error)

        thread = threading.Thread(target=invoke)
        thread.start()
        for value in (1, 1, 20):
            run.step(tensors={LOSS: np.array(value)}, save=True)
        thread.join(timeout=60)
        run.end()
        assert not thread.is_alive()
        assert [error.step for error in ended if isinstance(error, RuleEvaluationConditionMet)] == [3]

    def test_one_invocation_sees_one_moment(self, tmp_path: Path) -> None:
        run = run_of([1])
        run.begin(tmp_path / "run")

        class Growing(LargeLoss):
            def invoke_at_step(self, step: int) -> bool:
                assert self.base_trial is not None
                before = self.base_trial.newest_step()
                run.step(tensors={LOSS: np.array(1.0)}, save=True)
                self.asked.append(self.base_trial.newest_step() - before)
                return False

        rule = Growing(create_trial(tmp_path / "run"))
        invoke_rule(rule, end_step=1)
        run.end()
        assert rule.asked == [0]


class TestOfRequiredTensors:
    def test_they_are_fetched_before_the_rule_is_asked(self, trial: Trial) -> None:
        class Required(LargeLoss):
            def set_required_tensors(self, step: int) -> None:
                self.req_tensors.add(LOSS, [step])

        rule = Required(trial)
        findings(rule, trial)
        assert rule.asked == [0, 2, 4, 6, 8]  # at the others the value was not saved

    def test_names_steps_and_tensors_can_be_read_back(self, trial: Trial) -> None:
        required = RequiredTensors(trial)
        required.add(LOSS, range(0, 4, 2))
        required.add(LOSS, [2, 4])
        assert required.get_names() == [LOSS]
        assert required.get_tensor_steps(LOSS) == [0, 2, 4]
        assert required.get_tensor_steps("other") == []
        assert [tensor.name for tensor in required.get()] == [LOSS]
        required.fetch()

    def test_a_regex_means_every_tensor_that_it_finds(self, tmp_path: Path) -> None:
        run_of([1, 2], more=("a_output_0", "b")).write(tmp_path / "two")
        required = RequiredTensors(create_trial(tmp_path / "two"))
        required.add("_output", [0], should_match_regex=True)
        assert required.get_names() == ["a_output_0", LOSS]

    def test_another_trial_has_its_own(self, trial: Trial, tmp_path: Path) -> None:
        run_of([1]).write(tmp_path / "other")
        other = create_trial(tmp_path / "other")
        required = RequiredTensors(trial, [other])
        required.add(LOSS, [0], trial=other)
        assert (required.get_names(), required.get_names(other)) == ([], [LOSS])
        with pytest.raises(ConfigurationError, match="knows the rule's `base_trial` and its `other_trials` only"):
            RequiredTensors(trial).add(LOSS, [0], trial=other)

    @pytest.mark.parametrize(
        ("name", "step", "error"), [("no", 0, TensorUnavailable), (LOSS, 1, TensorUnavailableForStep)]
    )
    def test_what_is_missing_says_so(self, trial: Trial, name: str, step: int, error: type[Exception]) -> None:
        required = RequiredTensors(trial)
        required.add(name, [step])
        with pytest.raises(error):
            required.fetch()


def test_odd_values_become_what_json_can_hold() -> None:
    class Odd(LargeTensor):
        def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
            def evidence(_: int) -> dict[str, Any]:
                return {}

            for name, value in (("nan", np.nan), ("inf", np.inf)):
                yield Judgement.of_one(name, [start], [True], [value], np.nan, lambda _: "odd.", evidence)

    (found,) = findings(Odd(), run_of([1]))
    assert found.evidence["value"] is None
    assert found.evidence["threshold"] is None
    assert found.evidence["tensors"] == {"nan": None, "inf": "inf"}


class LateRule(Rule):
    """Needs a tensor that comes late."""

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        names = selected(reader, tensor_regex="late")
        blocks = reader.statistics_blocks(names, start, stop)
        if not blocks:
            raise InsufficientInformationForRuleInvocation("needs a tensor that comes late.")
        for block in blocks:
            yield Judgement(block.names, block.steps, block["max"] > 0, block["max"], 0.0, lambda *_: "It is late.")


def test_a_rule_whose_needs_begin_late_is_given_more_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutaway.rules.invoker.SPAN", 5)
    run = ScriptedRun()
    for step in range(40):
        run.step(tensors={"late": [1.0 if step == 35 else 0.0]} if step >= 30 else {"early": [1.0]})
    trial = Trial(run.write(tmp_path / "run"))
    with pytest.raises(RuleEvaluationConditionMet) as fired:
        invoke_rule(LateRule(trial), raise_eval_cond=True)
    assert fired.value.step == 35
    with pytest.raises(InsufficientInformationForRuleInvocation, match="needs a tensor that comes late"):
        invoke_rule(LateRule(trial), end_step=20)
