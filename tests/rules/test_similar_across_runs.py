"""SimilarAcrossRuns."""

import json
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import InsufficientInformationForRuleInvocation, RunNotFound
from cutaway.rules.built_in.similar_across_runs import SimilarAcrossRuns
from cutaway.rules.rule import Rule
from cutaway.run.identity import Run
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from cutaway.trial import Trial, create_trial

NAN = float("nan")


def run_with(lasts: list[float], *, save: bool = False, extra: str = "gradient/fc.weight") -> ScriptedRun:
    """A weight whose last value is scripted, beside a tensor that is always the same."""
    run = ScriptedRun()
    for i, last in enumerate(lasts):
        run.step(tensors={"fc.weight": [1.0, i, last], extra: [0.5, i]}, save=save)
    return run


def written(run: ScriptedRun, path: Path) -> Trial:
    run.write(path)
    return create_trial(path)


class TestSimilarAcrossRuns(RuleContract):
    rule = SimilarAcrossRuns

    @pytest.fixture(autouse=True)
    def _other(self, tmp_path: Path) -> None:
        self.other = written(run_with([3.0] * 20), tmp_path / "other")

    def make(self) -> Rule:
        return SimilarAcrossRuns(other_trials=[self.other])

    def sick(self) -> tuple[ScriptedRun, int]:
        return run_with([3.0] * 12 + [3.001] * 8), 12

    def healthy(self) -> ScriptedRun:
        return run_with([3.0] * 12 + [3.00001] * 8)

    def test_its_evidence_has_both_sides(self) -> None:
        (found,) = findings(self.make(), self.sick()[0])
        assert found.where == {"step": 12, "mode": "TRAIN", "tensor": "fc.weight"}
        assert found.evidence["other"] == "other"
        assert found.evidence["compared"] == "statistics"
        assert found.evidence["here"]["mean"] > found.evidence["there"]["mean"]
        assert found.message.startswith("fc.weight differs from that of run 'other' at step 12: its l2 norm is")

    def test_the_other_run_may_be_named_by_a_text(self) -> None:
        rule = SimilarAcrossRuns(other_trials=f"{self.other.path}, {self.other.path}")
        assert [trial.path for trial in rule.other_trials] == [self.other.path] * 2
        assert len(findings(rule, self.sick()[0])) == 1

    def test_only_steps_of_both_are_compared(self) -> None:
        assert findings(self.make(), run_with([3.0] * 20 + [99.0] * 5)) == []

    def test_only_chosen_tensors_are_compared(self) -> None:
        run = self.sick()[0]
        assert findings(SimilarAcrossRuns(other_trials=[self.other], collection_names="gradients"), run) == []
        assert findings(SimilarAcrossRuns(other_trials=[self.other], include_regex="^gradient"), run) == []
        assert len(findings(SimilarAcrossRuns(other_trials=[self.other], include_regex="weight$"), run)) == 1

    def test_a_nan_differs(self) -> None:
        assert [one.where["step"] for one in findings(self.make(), run_with([3.0] * 5 + [NAN] * 15))] == [5]

    def test_evidence_of_nothing_but_nan_is_still_json(self) -> None:
        run = ScriptedRun()
        run.step(tensors={"fc.weight": [NAN, NAN, NAN]})
        (found,) = findings(self.make(), run)
        assert json.loads(json.dumps(found.evidence, allow_nan=False))["here"]["nonfinite"] == 3

    def test_runs_that_have_no_tensor_in_common_are_refused(self) -> None:
        run = ScriptedRun()
        run.step(tensors={"another.weight": np.ones(2)})
        with pytest.raises(InsufficientInformationForRuleInvocation, match=r"none of these: another\.weight"):
            findings(self.make(), run)


def test_full_values_decide_where_both_have_them(tmp_path: Path) -> None:
    # The same values in another order: statistics cannot tell.
    here, there = ScriptedRun(), ScriptedRun()
    for step in range(4):
        here.step(tensors={"fc.weight": [1.0, 2.0]}, save=step >= 2)
        there.step(tensors={"fc.weight": [2.0, 1.0]}, save=step >= 2)
    (found,) = findings(SimilarAcrossRuns(other_trials=[written(there, tmp_path / "there")]), here)
    assert found.where["step"] == 2
    assert found.evidence["compared"] == "values"


def test_values_of_another_shape_differ(tmp_path: Path) -> None:
    here, there = ScriptedRun(), ScriptedRun()
    here.step(tensors={"x_output_0": np.ones((2, 3))}, save=True)
    there.step(tensors={"x_output_0": np.ones((3, 2))}, save=True)
    assert len(findings(SimilarAcrossRuns(other_trials=[written(there, tmp_path / "there")]), here)) == 1


def test_without_another_run_it_says_how_to_give_one() -> None:
    with pytest.raises(InsufficientInformationForRuleInvocation, match=r"--param SimilarAcrossRuns.other_trials=RUN"):
        findings(SimilarAcrossRuns(), run_with([1.0]))


def test_an_unknown_run_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound):
        SimilarAcrossRuns(other_trials=str(tmp_path / "nowhere"))


def test_it_waits_for_a_run_that_still_trains(tmp_path: Path) -> None:
    other = run_with([3.0] * 10)
    other.write(tmp_path / "other")
    run = Run.open(tmp_path / "other")
    _, lease = run.begin_attempt(from_step=10)  # it goes on
    rule, here = SimilarAcrossRuns(other_trials=str(run.path)), run_with([3.0] * 15)
    assert findings(rule, here, 8) == []
    with pytest.raises(InsufficientInformationForRuleInvocation, match="step 14 of run 'other', which still trains"):
        findings(rule, here)
    assert rule.next_step == 8
    lease.release("finished")
    run.identity["state"] = "finished"
    run.save_identity()
    assert findings(rule, here) == []
    assert rule.next_step == 15
