"""HookSilent."""

from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.hook_silent import HookSilent
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from cutaway.trial import create_trial

OUTPUT, WEIGHT = "relu_output_0", "fc.weight"


def add(run: ScriptedRun, names: list[str], count: int = 1, mode: ModeKeys = ModeKeys.TRAIN) -> ScriptedRun:
    for _ in range(count):
        run.step(mode, tensors={name: np.ones(2) for name in names})
    return run


def steps(run: ScriptedRun, rule: HookSilent | None = None) -> list[int]:
    return [one.where["step"] for one in findings(rule or HookSilent(), run)]


class TestHookSilent(RuleContract):
    rule = HookSilent

    def sick(self) -> tuple[ScriptedRun, int]:
        return add(add(ScriptedRun(), [OUTPUT, WEIGHT], 30), [WEIGHT], 40), 49

    def healthy(self) -> ScriptedRun:
        run = add(add(ScriptedRun(), [OUTPUT, WEIGHT], 30), [WEIGHT], 19)
        return add(run, [OUTPUT, WEIGHT], 30)

    def lacking(self) -> TensorReader | None:
        return None

    def test_it_names_the_tensor(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where == {"step": 49, "mode": "TRAIN", "tensor": OUTPUT}
        assert found.evidence["value"] == found.evidence["threshold"] == 20


class TestWhatItPassesOver:
    def test_a_tensor_that_comes_irregularly(self) -> None:
        run = ScriptedRun()
        for i in range(300):
            add(run, [OUTPUT, WEIGHT] if i % 7 and i < 100 else [WEIGHT])
        assert steps(run) == []

    def test_a_tensor_that_came_with_too_few_steps(self) -> None:
        assert steps(add(add(ScriptedRun(), [OUTPUT, WEIGHT], 19), [WEIGHT], 100)) == []
        assert steps(add(add(ScriptedRun(), [OUTPUT, WEIGHT], 20), [WEIGHT], 100)) == [39]

    def test_steps_of_another_mode(self) -> None:
        run = add(ScriptedRun(), [OUTPUT, WEIGHT], 30)
        add(run, [WEIGHT], 50, ModeKeys.EVAL)
        assert steps(add(run, [OUTPUT, WEIGHT], 30)) == []

    def test_steps_without_any_statistics(self) -> None:
        run = add(ScriptedRun(), [OUTPUT, WEIGHT], 30)
        for _ in range(100):
            run.step(scalars={"loss": 1.0})
        assert steps(run) == []

    def test_statistics_that_become_rarer(self) -> None:
        run = ScriptedRun()
        for i in range(400):
            run.step(tensors={OUTPUT: np.ones(2), WEIGHT: np.ones(2)} if i < 40 or i % 8 == 0 else None)
        assert steps(run) == []

    def test_a_tensor_that_appears_late(self) -> None:
        assert steps(add(add(ScriptedRun(), [WEIGHT], 50), [WEIGHT, OUTPUT], 50)) == []


def test_a_tensor_may_vanish_from_one_mode_only() -> None:
    run = ScriptedRun()
    for epoch in range(20):
        add(run, [WEIGHT, OUTPUT] if epoch < 10 else [WEIGHT], 5)
        add(run, [WEIGHT, OUTPUT], 5, ModeKeys.EVAL)
    assert steps(run) == [100 + 3 * 10 + 4]


def test_all_that_vanish_together_are_one_finding() -> None:
    names = [f"layer{i}_output_0" for i in range(30)]
    run = add(add(ScriptedRun(), [*names, WEIGHT], 30), [WEIGHT], 30)
    (found,) = findings(HookSilent(), run)
    assert found.evidence["count"] == 30


def test_one_that_comes_back_and_vanishes_again_is_told_again_after_a_rest() -> None:
    run = add(add(ScriptedRun(), [OUTPUT, WEIGHT], 30), [WEIGHT], 30)
    add(add(run, [OUTPUT, WEIGHT], 130), [WEIGHT], 30)
    assert steps(run) == [49, 209]


class TestOnARunFolder:
    def written(self, run: ScriptedRun, path: Path, included: list[str]) -> TensorReader:
        folder = run.write(path)
        content = folder.document("trace/collections.json") or {}
        folder.write_document("trace/collections.json", {**content, "included": included})
        return create_trial(path)

    def test_a_collection_of_which_nothing_came_is_named(self, tmp_path: Path) -> None:
        collections = Collections()
        collections.get("mine").include("attention")
        run = add(ScriptedRun(collections), [WEIGHT], 30)
        trial = self.written(run, tmp_path / "run", ["weights", "mine", "gradients", "losses"])
        (found,) = findings(HookSilent(), trial)
        assert found.where["step"] == 19
        assert "Nothing has come of the collections 'mine', 'gradients' up to step 19" in found.message

    def test_collections_that_came_are_not(self, tmp_path: Path) -> None:
        run = add(ScriptedRun(), [WEIGHT], 30)
        assert findings(HookSilent(), self.written(run, tmp_path / "run", ["weights"])) == []

    def test_before_patience_steps_nothing_is_said(self, tmp_path: Path) -> None:
        run = add(ScriptedRun(), [WEIGHT], 19)
        assert findings(HookSilent(), self.written(run, tmp_path / "run", ["gradients"])) == []

    def test_statistics_that_were_due_and_are_empty_are_told(self, tmp_path: Path) -> None:
        run = ScriptedRun()
        for _ in range(30):
            run.step(scalars={"loss": 1.0})
        (found,) = findings(HookSilent(), self.written(run, tmp_path / "run", []))
        assert "should have statistics" in found.message


class TestParameters:
    def test_patience_is_how_long_it_waits(self) -> None:
        run = add(add(ScriptedRun(), [OUTPUT, WEIGHT], 30), [WEIGHT], 40)
        assert steps(run, HookSilent(patience=5)) == [34]
        assert steps(run, HookSilent(patience=31)) == []

    def test_it_must_be_a_step_at_least(self) -> None:
        with pytest.raises(ConfigurationError, match="`patience >= 1` must hold"):
            HookSilent(patience=0)
