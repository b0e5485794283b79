"""FeatureImportanceOverweight."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.feature_importance_overweight import FeatureImportanceOverweight
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

NAME = "feature_importance/weight"


def weighing(*weights: list[float]) -> ScriptedRun:
    run = ScriptedRun()
    for own in weights:
        run.step(tensors={NAME: np.array(own)}, save=True)
    return run


class TestFeatureImportanceOverweight(RuleContract):
    rule = FeatureImportanceOverweight

    def sick(self) -> tuple[ScriptedRun, int]:
        return weighing(*[[10, 10, 10, 10, 10, 10]] * 3, *[[81, 0, 1, 8, 8, 2]] * 3), 3

    def healthy(self) -> ScriptedRun:
        return weighing(*[[10, 10, 10, 10, 10, 10]] * 3, *[[40, 5, 5, 20, 20, 10]] * 3)


def test_its_message_names_the_features_and_their_shares() -> None:
    (found,) = findings(FeatureImportanceOverweight(nfeatures=2), weighing([81, 0, 1, 8, 5, 5]))
    assert found.message == (
        "2 of 6 features carry 89% of the importance in feature_importance/weight at step 0, more than 80%: "
        "feature 0 (81%), feature 3 (8%)."
    )
    assert found.evidence["features"] == {"feature 0": 0.81, "feature 3": 0.08}
    assert found.evidence["value"] == pytest.approx(0.89)


def test_a_tensor_for_each_feature_is_understood_too() -> None:
    run = ScriptedRun()
    importances = {"age": 90.0, "income": 5.0, "city": 5.0}
    run.step(tensors={f"{NAME}/{name}": np.array([value]) for name, value in importances.items()}, save=True)
    (found,) = findings(FeatureImportanceOverweight(nfeatures=1), run)
    assert found.where["tensor"] == NAME
    assert found.evidence["features"] == {"age": 0.9}


@pytest.mark.parametrize(("threshold", "fires"), [(0.75, False), (0.74, True)])
def test_the_threshold_is_not_itself_too_much(threshold: float, fires: bool) -> None:
    rule = FeatureImportanceOverweight(threshold=threshold)
    assert bool(findings(rule, weighing([1, 1, 1, 1]))) is fires


def test_a_model_of_few_features_is_not_judged() -> None:
    assert findings(FeatureImportanceOverweight(), weighing([1, 1, 1])) == []


def test_no_importance_at_all_is_not_judged() -> None:
    assert findings(FeatureImportanceOverweight(), weighing([0, 0, 0, 0])) == []


def test_a_regex_chooses_the_tensors() -> None:
    run = ScriptedRun()
    run.step(tensors={"gain": np.array([9, 1, 0, 0])}, save=True)
    with pytest.raises(InsufficientInformationForRuleInvocation, match="feature_importance/weight' in full"):
        findings(FeatureImportanceOverweight(), run)
    assert len(findings(FeatureImportanceOverweight(tensor_regex="gain"), run)) == 1


@pytest.mark.parametrize("argument", [{"threshold": 1.5}, {"nfeatures": 0}, {"tensor_regex": "("}])
def test_impossible_arguments_are_refused(argument: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(argument))):
        FeatureImportanceOverweight(**argument)  # type: ignore[arg-type]
