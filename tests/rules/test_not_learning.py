"""NotLearning."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from cutaway.rules.built_in.not_learning import NotLearning
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from cutaway.trial import create_trial

LOSS = "CrossEntropyLoss_output_0"


def run_with(losses: list[float], rates: list[float] | None = None, *, name: str = LOSS) -> ScriptedRun:
    run = ScriptedRun()
    for i, loss in enumerate(losses):
        scalars = {} if rates is None else {"learning_rate": rates[i]}
        run.step(tensors={name: np.float64(loss)}, scalars=scalars)
    return run


def around(level: float, count: int, scatter: float = 0.02, seed: int = 0) -> list[float]:
    return (level + scatter * np.random.default_rng(seed).standard_normal(count)).tolist()


def falling(begin: float, end: float, count: int, scatter: float = 0.02) -> list[float]:
    chance = np.random.default_rng(1)
    return (np.linspace(begin, end, count) + scatter * chance.standard_normal(count)).tolist()


def steps(run: ScriptedRun, rule: NotLearning | None = None) -> list[int]:
    return [one.where["step"] for one in findings(rule or NotLearning(), run)]


class TestNotLearning(RuleContract):
    rule = NotLearning

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with(around(2.3, 400)), 199

    def healthy(self) -> ScriptedRun:
        return run_with([*falling(2.3, 1.0, 100), *around(1.0, 300)])

    def test_it_is_an_error_that_says_where_the_loss_began(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.severity == "error"
        assert "learned nothing" in found.message
        assert found.evidence["since"] == 100
        assert found.evidence["loss"] == pytest.approx(2.3, abs=0.02)
        assert found.evidence["first_loss"] == pytest.approx(2.3, abs=0.05)


def test_a_loss_that_falls_slowly_learns() -> None:
    assert steps(run_with(falling(2.3, 2.1, 600))) == []


def test_a_plateau_after_learning_is_none_of_its() -> None:
    assert steps(run_with([*falling(2.3, 0.4, 80), *around(0.4, 900)])) == []


def test_a_loss_that_rises_is_found_although_it_scatters() -> None:
    assert steps(run_with(falling(2.3, 4.0, 300, scatter=0.1))) == [199]


def test_a_loss_that_has_learned_and_lost_it_again_is_found() -> None:
    found = steps(run_with([*falling(2.3, 0.5, 100), *around(0.5, 300), *around(2.3, 900)]))
    assert len(found) == 1
    assert found[0] > 700


def test_where_the_scatter_could_hide_a_fall_it_waits_until_more_is_known() -> None:
    assert steps(run_with(around(2.3, 1200, scatter=0.02))) == [199]
    found = steps(run_with(around(2.3, 1200, scatter=0.1)))
    assert len(found) == 1
    assert found[0] > 199


def test_steps_of_a_warm_up_are_not_judged() -> None:
    rates = [*np.linspace(1e-6, 1e-3, 300).tolist(), *[1e-3] * 900]
    assert steps(run_with([*around(2.3, 300), *falling(2.3, 0.5, 300), *around(0.5, 600)], rates)) == []
    assert steps(run_with(around(2.3, 1200), rates))[0] > 300


def test_the_sum_of_several_losses_is_judged_and_one_good_stretch_is_enough() -> None:
    both = ScriptedRun()
    for one, other in zip(falling(1.4, 0.7, 200), around(0.7, 200), strict=True):
        both.step(tensors={"BCELoss_output_0": np.float64(one), "BCELoss_output_1": np.float64(other)})
    for one in around(1.4, 800):
        both.step(tensors={"BCELoss_output_0": np.float64(one), "BCELoss_output_1": np.float64(0.7)})
    assert steps(both) == []
    standing = ScriptedRun()
    for one in around(0.7, 300):
        standing.step(tensors={"BCELoss_output_0": np.float64(one), "BCELoss_output_1": np.float64(one)})
    assert steps(standing) == [199]


def test_adversaries_with_a_rate_each_are_not_judged() -> None:
    run = ScriptedRun()
    for one in around(0.7, 300):
        losses = {"BCELoss_output_0": np.float64(one), "BCELoss_output_1": np.float64(one)}
        run.step(tensors=losses, scalars={"learning_rate/0": 1e-3, "learning_rate/1": 1e-3})
    rule = NotLearning()
    assert findings(rule, run) == []
    assert not rule.has_judged


class TestWhereTheRunSaysWhatGuessingGives:
    def of(self, folder: Path, losses: list[float], config: dict[str, object]) -> list[int]:
        written = run_with(losses).write(folder)
        written.write_config(config)
        trial = create_trial(folder)
        return [one.where["step"] for one in findings(NotLearning(), trial)]

    def test_a_loss_that_only_came_down_to_guessing_has_learned_nothing(self, tmp_path: Path) -> None:
        losses = [*falling(3.0, 2.3, 40), *around(2.3, 300)]
        classes = {"loss": "CrossEntropyLoss", "classes": 10}
        assert self.of(tmp_path / "a", losses, classes) != []
        assert self.of(tmp_path / "b", losses, {"loss": "CrossEntropyLoss", "classes": 100}) == []
        assert self.of(tmp_path / "c", losses, {"loss": "MSELoss"}) == []

    def test_a_model_that_was_trained_before_has_learned(self, tmp_path: Path) -> None:
        losses = around(0.3, 400, scatter=0.003)
        assert self.of(tmp_path / "a", losses, {"loss": "CrossEntropyLoss", "classes": 10}) == []
        assert self.of(tmp_path / "b", losses, {"loss": "BCEWithLogitsLoss"}) == []
        assert self.of(tmp_path / "c", losses, {"loss": "MSELoss"}) == [199]

    def test_the_message_says_what_guessing_gives(self, tmp_path: Path) -> None:
        run_with(around(2.3, 300)).write(tmp_path / "a").write_config({"loss": "NLLLoss", "classes": 10})
        (found,) = findings(NotLearning(), create_trial(tmp_path / "a"))
        assert found.message.endswith("and guessing gives 2.303.")
        assert found.evidence["loss_of_guessing"] == pytest.approx(math.log(10))


class TestParameters:
    def test_patience_is_how_long_it_waits(self) -> None:
        assert steps(run_with(around(2.3, 100)), NotLearning(patience=50)) == [49]

    def test_least_percent_is_what_must_be_learned(self) -> None:
        run = run_with([*falling(2.3, 2.1, 50), *around(2.1, 400)])
        assert steps(run) == []
        assert steps(run, NotLearning(least_percent=20)) != []
