"""Tensors that were only saved in full, without statistics: rules see in them what they see in recorded ones."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tests.rules
from cutaway.rules.built_in.all_zero import AllZero
from cutaway.rules.built_in.exploding_tensor import ExplodingTensor
from cutaway.rules.built_in.hook_silent import HookSilent
from cutaway.rules.built_in.unchanged_tensor import UnchangedTensor
from cutaway.rules.built_in.weight_update_ratio import WeightUpdateRatio
from cutaway.rules.rule import Rule
from cutaway.rules.runner import RuleRunner
from cutaway.run import Run
from cutaway.run.watches import Status
from cutaway.tensors.reader import TensorReader
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from cutaway.trial import Trial
from tests.unit.trial.conftest import Writing

NAN = float("nan")
FINE = np.array([1.0, -2.0, 3.0])
NOT_ASKED = {
    "TestHookSilent": "looks whether recorded tensors come",
    "TestDeadUnits": "looks at the activity of channels, which values of a layer do not tell from those of others",
    "TestSimilarAcrossRuns": "looks at a second run, which its tests make",
    "TestFromStatisticsAlone": "says what little can be said without values",
}


def contracts() -> list[type[RuleContract]]:
    """Every class of tests of a rule of ours."""
    for module in pkgutil.iter_modules(tests.rules.__path__, "tests.rules."):
        if module.name.rpartition(".")[2].startswith("test_") and module.name != __name__:
            importlib.import_module(module.name)
    found = [one for one in RuleContract.__subclasses__() if one.__name__ not in NOT_ASKED]
    return sorted(found, key=lambda one: (one.__module__, one.__qualname__))


@pytest.fixture
def only_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on scripted runs record no statistics: their tensors are saved in full at every step."""
    step: Callable[..., int] = ScriptedRun.step

    def without_statistics(run: ScriptedRun, *mode: Any, **given: Any) -> int:
        tensors: Mapping[str, npt.ArrayLike] = given.pop("tensors", None) or {}
        values: Mapping[str, npt.ArrayLike] = given.pop("values", None) or {}
        given.pop("save", None)
        given.pop("active", None)
        return step(run, *mode, values={**tensors, **values}, **given)

    monkeypatch.setattr(ScriptedRun, "step", without_statistics)


@pytest.mark.usefixtures("only_in_full")
@pytest.mark.parametrize("contract", contracts(), ids=lambda one: one.__name__)
def test_every_rule_judges_what_was_only_saved_in_full(contract: type[RuleContract], tmp_path: Path) -> None:
    case = contract()
    run, first = case.sick()
    assert [one.where["step"] for one in findings(case.make(), run)][:1] == [first]
    on_disk = Trial(run.write(tmp_path / "sick"))
    assert [one.where["step"] for one in findings(case.make(), on_disk)][:1] == [first]
    assert findings(case.make(), case.healthy()) == []


def look(reader: Trial, *rules: Rule) -> dict[str, tuple[Status, str]]:
    runner = RuleRunner(reader, rules)
    runner.look(over=True)
    return {one.rule.rule_name: (one.status, one.message) for one in runner.watched}


def saved(*, nan: bool) -> ScriptedRun:
    """A run with one recorded tensor that is well, and one that is only saved, at every third step."""
    run = ScriptedRun()
    for step in range(30):
        value = np.full(3, NAN) if nan else FINE + step
        run.step(tensors={"fc.weight": FINE + step}, values={"mine": value} if step % 3 == 0 else None)
    return run


class TestSavedBesideRecorded:
    def test_a_saved_tensor_that_is_nan_is_found(self, tmp_path: Path) -> None:
        (found,) = findings(ExplodingTensor(), Trial(saved(nan=True).write(tmp_path / "run")))
        assert (found.where["tensor"], found.where["step"]) == ("mine", 0)
        assert "3 of its 3 values" in found.message

    def test_one_that_is_well_is_not(self, tmp_path: Path) -> None:
        trial = Trial(saved(nan=False).write(tmp_path / "run"))
        assert look(trial, ExplodingTensor(trial)) == {"ExplodingTensor": (Status.SILENT, "")}

    def test_what_is_saved_now_and_then_is_not_missed_by_the_hook(self, tmp_path: Path) -> None:
        run = ScriptedRun()
        for step in range(80):
            run.step(tensors={"fc.weight": FINE + step}, values={"mine": FINE} if step < 30 else None)
        assert findings(HookSilent(), Trial(run.write(tmp_path / "run"))) == []

    def test_a_tensor_that_is_recorded_seldom_is_seen_where_it_was_saved_in_between(self, tmp_path: Path) -> None:
        run = ScriptedRun()
        for step in range(40):
            weight = {"fc.weight": np.full(3, NAN) if step == 15 else FINE + step}
            run.step(tensors=weight if step % 10 == 0 else None, values=weight if step % 10 == 5 else None)
        (found,) = findings(ExplodingTensor(), Trial(run.write(tmp_path / "run")))
        assert found.where["step"] == 15

    def test_a_change_is_not_measured_across_what_was_recorded_and_what_was_saved(self, tmp_path: Path) -> None:
        run = ScriptedRun()
        for step in range(40):
            weight = {"fc.weight": np.full(3, 1.0 + 30 * step)}  # large over ten steps, usual over five
            run.step(tensors=weight if step % 10 == 0 else None, values=weight if step % 10 == 5 else None)
        trial = Trial(run.write(tmp_path / "run"))
        (block,) = trial.statistics_blocks(["fc.weight"], 0, 40)
        assert block.steps.tolist() == list(range(0, 40, 5))
        assert block.recorded.tolist() == [True, False] * 4
        assert np.isnan(block["change"]).all()
        assert findings(WeightUpdateRatio(), trial) == []


@pytest.mark.parametrize(
    ("rule", "sick", "well"),
    [
        (ExplodingTensor, np.full(3, NAN), FINE),
        (AllZero, np.zeros(3), FINE),
        (UnchangedTensor, FINE, None),
    ],
)
class TestWithoutAnyStatistics:
    def run(self, value: npt.NDArray[np.float64] | None) -> ScriptedRun:
        run = ScriptedRun()
        for step in range(10):
            weight = FINE + step if value is None else value
            run.step(values={"fc.weight": weight, "gradient/fc.weight": FINE}, scalars={"loss": 1.0})
        return run

    def test_a_sick_tensor_fires(self, rule: type[Rule], sick: Any, well: Any, tmp_path: Path) -> None:
        trial = Trial(self.run(sick).write(tmp_path / "run"))
        assert look(trial, rule(trial))[rule.__name__][0] is Status.FIRED

    def test_a_healthy_one_is_silent(self, rule: type[Rule], sick: Any, well: Any, tmp_path: Path) -> None:
        trial = Trial(self.run(well).write(tmp_path / "run"))
        assert look(trial, rule(trial))[rule.__name__][0] is Status.SILENT

    def test_where_only_reductions_are_left_it_is_skipped_with_the_reason(
        self, rule: type[Rule], sick: Any, well: Any, tmp_path: Path
    ) -> None:
        writing = Writing(Run.create(tmp_path / "run"))
        writing.collections()
        for step in range(10):
            writing.tensors(step, {"fc.weight": sick}, raw=False, reductions={"fc.weight": {"mean": 0.0}})
            writing.listed(step)
        writing.close()
        trial = Trial(Run.open(tmp_path / "run"))
        status, message = look(trial, rule(trial))[rule.__name__]
        assert (status, message[:5]) == (Status.SKIPPED, "could")
        assert message.startswith("could judge none of the steps up to 9. Needs: Statistics of the tensors")


def test_a_damaged_value_is_no_value(tmp_path: Path) -> None:
    run = saved(nan=True).write(tmp_path / "run")
    (file,) = (run.path / "trace" / "tensors").glob("*.bin")
    data = bytearray(file.read_bytes())
    data[:8] = b"\x00" * 8
    file.write_bytes(bytes(data))
    trial = Trial(Run.open(run.path))
    (found,) = findings(ExplodingTensor(), trial)
    assert found.where["step"] == 3
    assert any("'mine'" in damage.reason for damage in trial.damage)


def test_a_growing_run_is_judged_as_one_that_has_ended(tmp_path: Path) -> None:
    run = ScriptedRun()
    trial = Trial(run.begin(tmp_path / "run"))
    rule = UnchangedTensor(tensor_regex="mine")
    found = []
    for step in range(20):
        run.step(values={"mine": FINE + min(step, 10)})
        found += findings(rule, trial)
    run.end()
    assert [one.where["step"] for one in found] == [12]
    whole: TensorReader = Trial(Run.open(tmp_path / "run"))
    assert [one.id for one in findings(UnchangedTensor(tensor_regex="mine"), whole)] == [one.id for one in found]
