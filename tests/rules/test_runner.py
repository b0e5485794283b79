"""Many rules over one run: none can stop the others, and a slow one says how far behind it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules import Judgement, Rule
from cutaway.rules.built_in.vanishing_gradient import VanishingGradient
from cutaway.rules.runner import RuleRunner
from cutaway.run import Run
from cutaway.run.watches import Status
from cutaway.tensors.reader import TensorReader
from cutaway.trial import Trial
from tests.rules.sickness import sick_run, train


class Broken(Rule):
    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        raise ZeroDivisionError("on purpose")


class Lacks(Rule):
    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        raise InsufficientInformationForRuleInvocation("needs what nobody has.")


class Late(Rule):
    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        steps = reader.step_window(start, stop)["step"]
        if not (steps >= 40).any():
            raise InsufficientInformationForRuleInvocation("needs step 40.")
        yield Judgement.of_one("", steps, steps == 40, steps, 40, lambda i: f"Step {steps[i]}.")


class Stepwise(Rule):
    def __init__(self, base_trial: Trial | None = None) -> None:
        super().__init__(base_trial)
        self.asked: list[int] = []

    def invoke_at_step(self, step: int) -> bool:
        self.asked.append(step)
        return step == 40


class Needy(Rule):
    def invoke_at_step(self, step: int) -> bool:
        return bool(self.base_trial.tensor("nowhere").value(step))  # type: ignore[union-attr]


class Clock:
    """A clock that a rule moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return Trial(sick_run().write(tmp_path / "run"))


def status(runner: RuleRunner) -> dict[str, Status]:
    return {one.rule.rule_name: one.status for one in runner.watched}


def test_every_rule_gets_its_turn_whatever_the_others_do(trial: Trial) -> None:
    runner = RuleRunner(trial, [Broken(trial), Lacks(trial), VanishingGradient(trial), Stepwise(trial)])
    found = [finding for _ in range(3) for _, finding in runner.look()]
    assert status(runner) == {
        "Broken": Status.BROKEN,
        "Lacks": Status.SKIPPED,
        "VanishingGradient": Status.FIRED,
        "Stepwise": Status.FIRED,
    }
    assert sorted((one.code, one.where["step"]) for one in found) == [
        ("Stepwise", 40),
        ("VanishingGradient", 30),
        ("rule-broken", 0),
    ]


def test_a_broken_rule_is_reported_with_its_file_and_line(trial: Trial) -> None:
    runner = RuleRunner(trial, [Broken(trial)])
    ((_, finding),) = runner.look()
    line = Broken.judge.__code__.co_firstlineno + 1
    assert finding.evidence == {"error": "ZeroDivisionError", "place": f"{__file__}:{line}"}
    assert "on purpose" in finding.message
    assert runner.look() == []


def test_a_rule_says_what_it_lacks_and_is_asked_again(trial: Trial) -> None:
    runner = RuleRunner(trial, [Lacks(trial)])
    runner.look()
    assert runner.watched[0].message == "needs what nobody has."
    assert not runner.is_behind


def test_a_rule_whose_needs_begin_late_in_a_long_run_is_not_skipped(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutaway.rules.runner.FIRST_STEPS", 4)
    runner = RuleRunner(trial, [Late(trial), Lacks(trial)])
    found = [finding.where["step"] for _, finding in runner.look()]
    assert status(runner) == {"Late": Status.FIRED, "Lacks": Status.SKIPPED}
    assert found == [40]
    assert not runner.is_behind


def test_a_rule_that_takes_long_to_say_what_it_lacks_is_asked_again_later_or_at_the_end(trial: Trial) -> None:
    clock = Clock()

    class Slow(Lacks):
        asked = 0

        def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
            self.asked += 1
            clock.now += 0.1
            return super().judge(reader, start, stop)

    slow = Slow(trial)
    runner = RuleRunner(trial, [slow], clock=clock)
    runner.look()
    runner.look()
    assert slow.asked == 1
    runner.look(over=True)
    assert slow.asked == 2
    clock.now += 60
    runner.look()
    assert slow.asked == 3
    assert status(runner) == {"Slow": Status.SKIPPED}


def test_a_stepwise_rule_whose_tensors_never_come_is_skipped_with_the_reason(trial: Trial) -> None:
    runner = RuleRunner(trial, [Needy(trial)])
    while True:
        runner.look()
        if not runner.is_behind:
            break
    assert runner.watched[0].status is Status.SKIPPED
    assert "No tensor 'nowhere'" in runner.watched[0].message


def test_a_slow_rule_says_how_far_it_is_behind_and_catches_up(trial: Trial) -> None:
    clock = Clock()

    class Slow(Stepwise):
        def invoke_at_step(self, step: int) -> bool:
            clock.now += 0.1
            return super().invoke_at_step(step)

    slow, quick = Slow(trial), VanishingGradient(trial)
    runner = RuleRunner(trial, [slow, quick], clock=clock)
    runner.look()
    assert [one.behind > 0 for one in runner.watched] == [True, False]
    first = runner.watched[0].behind
    rounds = 0
    while runner.is_behind:
        runner.look()
        rounds += 1
    assert 0 < first < 60
    assert rounds > 5
    assert slow.asked == list(range(60))


def test_steps_that_another_attempt_replaced_are_looked_at_again(tmp_path: Path) -> None:
    sick_run(healthy=10, sick=10).write(tmp_path / "run")
    trial = Trial(Run.open(tmp_path / "run"))
    runner = RuleRunner(trial, [VanishingGradient(trial)])
    assert [finding.where["step"] for _, finding in runner.look()] == [10]
    again = Run.open(tmp_path / "run")
    _, lease = again.begin_attempt(from_step=5)
    assert runner.look() == []
    assert runner.watched[0].step == 4
    lease.beat()


def test_a_growing_run_is_looked_at_step_by_step(tmp_path: Path) -> None:
    run = sick_run(healthy=5, sick=0)
    trial = Trial(run.begin(tmp_path / "run"))
    runner = RuleRunner(trial, [VanishingGradient(trial)])
    assert runner.look() == []
    assert status(runner) == {"VanishingGradient": Status.SILENT}
    train(run, 3, gradient=0.0)
    assert [finding.where["step"] for _, finding in runner.look()] == [5]
    run.end()
