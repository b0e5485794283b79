"""SlowStep."""

from collections.abc import Mapping

import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.slow_step import SlowStep
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.testing.rules import RuleContract, ScriptedRun, findings


class Timed(ScriptedRun):
    """A run with a clock: every step takes as long as one says."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1e9

    def take(
        self, seconds: float, count: int = 1, mode: ModeKeys = ModeKeys.TRAIN, phases: Mapping[str, float] | None = None
    ) -> None:
        for _ in range(count):
            self.step(mode, time=self.now, seconds=phases)
            self.now += seconds


def changing(before: float, after: float, count: int = 200) -> Timed:
    run = Timed()
    run.take(before, count)
    run.take(after, count)
    return run


def steps(run: ScriptedRun, rule: SlowStep | None = None) -> list[int]:
    return [one.where["step"] for one in findings(rule or SlowStep(), run)]


class TestSlowStep(RuleContract):
    rule = SlowStep

    def sick(self) -> tuple[ScriptedRun, int]:
        # Of the last twenty steps half are slow at step 210; at step 216 that has lasted for three seconds.
        return changing(0.1, 0.5), 216

    def healthy(self) -> ScriptedRun:
        return changing(0.1, 0.19)

    def lacking(self) -> TensorReader | None:
        return None

    def test_its_evidence_has_both_times(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.evidence["seconds"] == pytest.approx(0.5)
        assert found.evidence["usual_seconds"] == pytest.approx(0.1)
        assert found.evidence["value"] == pytest.approx(5)
        assert "takes 500 ms (the median of the last 20), 5 times the 100 ms that is usual" in found.message


USUAL = {"data": 0.02, "forward": 0.03, "backward": 0.04, "optimizer": 0.01}


class TestWhichPhase:
    @pytest.mark.parametrize("phase", ["data", "forward", "backward", "optimizer"])
    def test_the_one_that_grew_is_named(self, phase: str) -> None:
        run = Timed()
        run.take(0.1, 200, phases=USUAL)
        run.take(0.5, 200, phases={**USUAL, phase: USUAL[phase] + 0.4})
        (found,) = findings(SlowStep(), run)
        assert found.evidence["phase"] == phase
        assert found.evidence["phase_seconds"] == pytest.approx(USUAL[phase] + 0.4)
        assert found.evidence["phase_usual_seconds"] == pytest.approx(USUAL[phase])
        assert f"phase `{phase}`" in found.message

    def test_what_no_phase_explains_lies_between_steps(self) -> None:
        run = Timed()
        run.take(0.1, 200, phases=USUAL)
        run.take(0.5, 200, phases={**USUAL, "forward": 0.05})
        (found,) = findings(SlowStep(), run)
        assert found.evidence["phase"] == "between steps"
        assert found.evidence["phase_seconds"] == pytest.approx(0.38)
        assert "lies between steps" in found.message

    def test_a_run_without_phases_says_so_too(self) -> None:
        (found,) = findings(SlowStep(), changing(0.1, 0.5))
        assert found.evidence["phase"] == "between steps"


class TestWhatDoesNotCount:
    def test_stretches_of_validation(self) -> None:
        run = Timed()
        for _ in range(40):
            run.take(0.1, 10)
            run.take(5.0, 3, ModeKeys.EVAL)
        assert steps(run) == []

    def test_short_epochs_with_a_long_pause_after_each(self) -> None:
        run = Timed()
        for epoch in range(80):
            run.take(0.1, 5)
            run.now += 60.0 * (epoch > 40)  # one step of five
        assert steps(run) == []

    def test_the_first_steps(self) -> None:
        run = Timed()
        run.take(5.0, 10)
        run.take(0.1, 300)
        assert steps(run) == []
        assert steps(changing(0.1, 0.5, count=40)) == []  # nothing is usual yet

    def test_milliseconds(self) -> None:
        assert steps(changing(0.0005, 0.002, count=3_000)) == []
        assert steps(changing(0.0005, 0.004, count=3_000)) != []

    def test_what_is_over_within_three_seconds(self) -> None:
        run = Timed()
        run.take(0.005, 500)
        run.take(0.02, 140)
        run.take(0.005, 500)
        assert steps(run) == []
        run.take(0.02, 180)
        assert len(steps(run)) == 1

    def test_single_slow_steps(self) -> None:
        run = Timed()
        for _ in range(60):
            run.take(0.1, 5)
            run.take(3.0, 1)
        assert steps(run) == []

    def test_steps_that_left_no_record(self) -> None:
        run = Timed()
        run.take(0.1, 200)
        for _ in range(200):
            # From here on only every tenth step is recorded.
            run._mode_steps[ModeKeys.TRAIN] += 9
            run.step(number=run.newest_step() + 10, time=run.now)
            run.now += 1.0
        assert steps(run) == []

    def test_evaluations_whose_mode_nobody_set(self) -> None:
        run = Timed()
        for _ in range(20):
            run.take(0.1, 20, ModeKeys.GLOBAL, {"optimizer": 0.01})
            run.take(2.0, 30, ModeKeys.GLOBAL)
        assert steps(run) == []


class TestParameters:
    def test_factor_is_how_much_slower(self) -> None:
        assert steps(changing(0.1, 0.25), SlowStep(factor=3)) == []
        assert steps(changing(0.1, 0.15), SlowStep(factor=1.4)) != []

    def test_a_shorter_window_sees_it_sooner(self) -> None:
        assert steps(changing(0.1, 0.5), SlowStep(window=4)) == [208]

    @pytest.mark.parametrize("arguments", [{"window": 2}, {"factor": 1}])
    def test_bad_ones_are_refused(self, arguments: dict[str, float]) -> None:
        with pytest.raises(ConfigurationError, match="must hold"):
            SlowStep(**arguments)  # type: ignore[arg-type]
