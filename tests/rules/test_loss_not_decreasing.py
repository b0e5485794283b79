"""LossNotDecreasing."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.loss_not_decreasing import LossNotDecreasing
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

LOSS = "CrossEntropyLoss_output_0"


def run_with(values: list[float], every: int = 1) -> ScriptedRun:
    run = ScriptedRun()
    for i, value in enumerate(values):
        run.step(tensors={LOSS: np.float64(value)}, number=i * every)
    return run


def noisy(level: np.ndarray, share: float, seed: int = 0) -> list[float]:
    values: list[float] = (level * (1 + share * np.random.default_rng(seed).standard_normal(len(level)))).tolist()
    return values


def checked(run: ScriptedRun) -> list[int]:
    return [step for one in LossNotDecreasing().judged(run, run.newest_step() + 1) for step in one.steps.tolist()]


def fired(run: ScriptedRun, rule: LossNotDecreasing | None = None) -> list[int]:
    judged = (rule or LossNotDecreasing()).judged(run, run.newest_step() + 1)
    return [step for one in judged for step in one.steps[one.fires[0]].tolist()]


class TestLossNotDecreasing(RuleContract):
    rule = LossNotDecreasing

    def sick(self) -> tuple[ScriptedRun, int]:
        # It falls until step 99, and then stands, with little scatter.
        falling, standing = 2.0 * 0.98 ** np.arange(100), np.full(100, 2.0 * 0.98**100)
        return run_with(noisy(np.concatenate([falling, standing]), 1e-5)), 119

    def healthy(self) -> ScriptedRun:
        # As slow as it may be, and with scatter that hides it from one check to the next.
        return run_with(noisy(2.0 * 0.999 ** np.arange(2_000), 0.05))

    def test_its_evidence_has_both_sides(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where == {"step": 119, "mode": "TRAIN", "tensor": LOSS}
        assert found.evidence["loss"] == pytest.approx(found.evidence["loss_before"], rel=1e-4)
        assert found.evidence["steps_compared"] == 10
        assert abs(found.evidence["value"]) < found.evidence["threshold"] == 0.1
        assert "is not falling: its mean over the last 10 steps up to step 119 is 0.265" in found.message


class TestWhenItChecks:
    def test_every_num_steps_against_a_stretch_before(self) -> None:
        assert checked(run_with([1.0] * 50)) == [19, 29, 39, 49]

    def test_a_loss_of_every_third_step_is_checked_at_21_and_33(self) -> None:
        # Upstream's example: 21 is compared with 9, and the next step that is saved ten steps later is 33.
        assert checked(run_with([1.0] * 13, every=3)) == [21, 33]

    def test_single_values_are_compared_with_the_newest_that_is_old_enough(self) -> None:
        run = run_with([1.0, 0.5, 0.5, 0.4], every=12)
        (found,) = findings(LossNotDecreasing(), run)
        assert found.where["step"] == 24
        assert (found.evidence["loss"], found.evidence["loss_before"], found.evidence["step_before"]) == (0.5, 0.5, 12)


class TestSingleValues:
    @pytest.mark.parametrize(
        ("values", "sick"),
        [
            ([1.0, 0.998], []),
            ([1.0, 0.9995], [20]),
            ([1.0, 1.0], [20]),
            ([1.0, 1.04], []),
            ([1.0, 1.06], [20]),
            ([0.0, 0.0], []),
            ([float("nan"), 1.0, 0.9], []),
            ([-1.0, -1.5], []),
            ([-1.0, -0.5], [20]),
        ],
    )
    def test_a_fall_below_diff_percent_or_a_rise_above_the_threshold(
        self, values: list[float], sick: list[int]
    ) -> None:
        assert fired(run_with(values, every=20)) == sick

    def test_the_parameters_set_both_limits(self) -> None:
        assert fired(run_with([1.0, 0.9], every=20), LossNotDecreasing(diff_percent=20)) == [20]
        assert fired(run_with([1.0, 1.06], every=20), LossNotDecreasing(increase_threshold_percent=10)) == []
        assert fired(run_with([1.0, 1.0], every=20), LossNotDecreasing(num_steps=21)) == []

    def test_a_rise_that_such_values_often_take_is_not_told(self) -> None:
        assert fired(run_with([1.0, 0.7, 0.9, 0.6, 0.8, 0.55, 0.7], every=20)) == [40]


class TestScatter:
    def test_a_loss_that_stands_is_found_though_it_scatters(self) -> None:
        steps = fired(run_with(noisy(np.full(1_000, 2.3), 0.03)))
        assert steps
        assert min(steps) < 700

    @pytest.mark.parametrize("seed", range(10))
    def test_a_loss_that_falls_is_not_told_of_however_it_scatters(self, seed: int) -> None:
        level = 0.05 + 2.3 * np.exp(-np.arange(1_000) / 150)
        assert fired(run_with(noisy(level, 0.3, seed))) == []

    def test_a_rise_is_found_at_once(self) -> None:
        level = np.concatenate([2.0 * 0.99 ** np.arange(100), 0.73 * 1.03 ** np.arange(30)])
        assert min(fired(run_with(noisy(level, 0.02)))) <= 119

    def test_how_much_it_may_rise_is_a_parameter(self) -> None:
        level = np.concatenate([2.0 * 0.99 ** np.arange(100), 0.73 * 1.01 ** np.arange(80)])
        run = run_with(noisy(level, 0.01))
        assert min(fired(run, LossNotDecreasing(increase_threshold_percent=1))) == 129
        assert min(fired(run, LossNotDecreasing(increase_threshold_percent=20))) == 149
        assert fired(run, LossNotDecreasing(increase_threshold_percent=50)) == []

    @pytest.mark.parametrize("seed", range(10))
    def test_a_few_bad_batches_after_a_fall_are_no_rise(self, seed: int) -> None:
        """As on real digits: a level of 0.2, twenty lucky batches, and the level again."""
        level = np.concatenate([2.0 * 0.97 ** np.arange(80), np.full(100, 0.2), np.full(20, 0.13), np.full(20, 0.22)])
        level *= 0.9995 ** np.arange(len(level))
        found = findings(LossNotDecreasing(), run_with(noisy(level, 0.25, seed)))
        assert [one.message for one in found if "is rising" in one.message] == []


def test_a_loss_that_is_tiny_beside_its_first_value_has_converged() -> None:
    level = np.concatenate([2.0 * 0.9 ** np.arange(80), np.full(100, 2.0 * 0.9**80)])
    assert 2.0 * 0.9**80 < 1e-3 * 2.0
    assert fired(run_with(noisy(level, 1e-5))) == []


def test_the_means_of_validations_are_compared_not_their_batches() -> None:
    run = ScriptedRun()
    for epoch in range(40):
        for _ in range(20):
            run.step(ModeKeys.TRAIN, tensors={LOSS: np.float64(2.0 * 0.999 ** run.newest_step())})
        for batch in range(20):
            # Batches of a validation differ, but not by what is learned between them.
            run.step(ModeKeys.EVAL, tensors={LOSS: np.float64(max(1.5 - epoch / 40, 1.0) + batch / 20)})
    found = findings(LossNotDecreasing(), run)
    assert [one.where["mode"] for one in found] == ["EVAL"]
    assert "of validation is not falling" in found[0].message
    assert fired(run, LossNotDecreasing(mode="train")) == []
    assert fired(run, LossNotDecreasing(mode="EVAL")) == fired(run)


def test_evaluations_whose_mode_nobody_set_are_left_out() -> None:
    run = ScriptedRun()
    for _ in range(20):
        for _ in range(20):
            loss = {LOSS: np.float64(2.0 * 0.995 ** run.newest_step())}
            run.step(ModeKeys.GLOBAL, tensors=loss, seconds={"optimizer": 1e-3})
        for _ in range(15):
            run.step(ModeKeys.GLOBAL, tensors={LOSS: np.float64(5.0)}, seconds={"forward": 1e-3})
    assert fired(run) == []
    everything = ScriptedRun()
    for i in range(run.newest_step() + 1):
        everything.step(ModeKeys.GLOBAL, tensors={LOSS: run.statistics_window(LOSS, i, i + 1)["mean"]})
    assert fired(everything) != []


class TestWhichLosses:
    def test_scalars_serve_where_there_is_no_tensor(self) -> None:
        run = ScriptedRun()
        for _ in range(40):
            run.step(scalars={"loss": 1.0})
        (found,) = findings(LossNotDecreasing(), run)
        assert found.where["tensor"] == "loss"

    def test_others_are_found_by_regex_or_collection(self) -> None:
        collections = Collections()
        collections.get("mine").include("perpl")
        run = ScriptedRun(collections)
        for i in range(40):
            run.step(tensors={LOSS: np.float64(0.9**i), "perplexity": np.float64(1.0)})
        assert fired(run) == []
        assert fired(run, LossNotDecreasing(tensor_regex="perpl")) != []
        assert fired(run, LossNotDecreasing(tensor_regex="perpl", use_losses_collection="false")) != []
        assert fired(run, LossNotDecreasing(collection_names="mine")) != []

    def test_without_any_the_run_lacks_one(self) -> None:
        with pytest.raises(Exception, match="needs tensors that match 'nothing'"):
            findings(LossNotDecreasing(tensor_regex="nothing", use_losses_collection=False), run_with([1.0]))
        with pytest.raises(Exception, match="needs a loss"):
            findings(LossNotDecreasing(), ScriptedRun())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_steps": 0}, "`num_steps >= 1` must hold"),
        ({"diff_percent": -1}, "diff_percent"),
        ({"mode": "trian"}, "No mode 'trian'"),
        ({"tensor_regex": "("}, "tensor_regex"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        LossNotDecreasing(**arguments)  # type: ignore[arg-type]
