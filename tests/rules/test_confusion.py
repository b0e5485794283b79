"""Confusion."""

import numpy as np
import numpy.typing as npt
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation, RuleEvaluationConditionMet
from cutaway.rules import invoke_rule
from cutaway.rules.built_in.confusion import Confusion
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from cutaway.trial import create_trial

LABELS, SCORES = "CrossEntropyLoss_input_1", "CrossEntropyLoss_input_0"
CLASSES = 4


def scores_of(classes: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    return np.eye(CLASSES, dtype=np.float32)[classes]


def batch(
    chance: np.random.Generator, right: float, mixed: int = 2, size: int = 40
) -> dict[str, npt.NDArray[np.generic]]:
    """Labels, and scores that name class `mixed` rightly in a share of cases, else the one after it."""
    labels = np.arange(size) % CLASSES
    named = labels.copy()
    named[(labels == mixed) & (chance.random(size) >= right)] = (mixed + 1) % CLASSES
    return {LABELS: labels, SCORES: scores_of(named)}


def trained(right: list[float], mode: ModeKeys = ModeKeys.TRAIN) -> ScriptedRun:
    run, chance = ScriptedRun(), np.random.default_rng(0)
    for share in right:
        run.step(mode, tensors=batch(chance, share), save=True)
    return run


def one_step(
    labels: npt.ArrayLike, predictions: npt.ArrayLike, names: tuple[str, str] = ("labels", "predictions")
) -> ScriptedRun:
    run = ScriptedRun()
    run.step(tensors=dict(zip(names, (np.asarray(labels), np.asarray(predictions)), strict=True)), save=True)
    return run


class TestConfusion(RuleContract):
    rule = Confusion

    def sick(self) -> tuple[ScriptedRun, int]:
        # 40 labels a step: the 2,000th is in step 49.
        return trained([0.2] * 80), 49

    def healthy(self) -> ScriptedRun:
        return trained([0.95] * 80)


def test_its_message_names_both_classes() -> None:
    (found,) = findings(Confusion(), trained([0.0] * 60))
    assert found.message == (
        "Class 2 is recognised in 0% of its 130 labels up to step 49, below 90%: "
        "most often (100%) it is predicted as class 3."
    )
    assert found.where == {"step": 49, "mode": "TRAIN", "tensor": SCORES}
    assert found.evidence["class"] == 2
    assert found.evidence["predicted_as"] == 3
    assert found.evidence["row"] == [0, 0, 0, 130]
    assert found.evidence["threshold"] == 0.9


def test_a_model_that_still_becomes_better_is_left_alone() -> None:
    assert findings(Confusion(), trained(list(np.linspace(0.0, 0.6, 200)))) == []


def test_a_model_that_stops_becoming_better_is_told_of() -> None:
    found = findings(Confusion(), trained([*np.linspace(0.0, 0.6, 100), *[0.6] * 600]))
    assert len(found) == 1
    assert found[0].where["step"] > 150


def test_chance_does_not_fire() -> None:
    # The share is right on average, so that about half of all windows lie below it.
    assert findings(Confusion(), trained([0.9] * 500)) == []


def test_modes_are_counted_apart() -> None:
    run, chance = ScriptedRun(), np.random.default_rng(0)
    for step in range(120):
        trains = step % 2 == 0
        mode = ModeKeys.TRAIN if trains else ModeKeys.EVAL
        run.step(mode, tensors=batch(chance, 1.0 if trains else 0.0), save=True)
    found = findings(Confusion(), run)
    assert [(one.where["mode"], one.where["step"]) for one in found] == [("EVAL", 99)]
    assert found[0].evidence["value"] == 0


def test_tensors_under_its_own_names_are_judged_step_by_step() -> None:
    labels = np.arange(10)
    wrong = labels.copy()
    wrong[4] = 7
    run = ScriptedRun()
    for named in (labels, labels, wrong, labels):
        run.step(tensors={"labels": labels, "predictions": named}, save=True)
    (found,) = findings(Confusion(), run)
    assert found.where == {"step": 2, "mode": "TRAIN", "tensor": "predictions"}
    assert (found.evidence["class"], found.evidence["predicted_as"]) == (4, 7)


def test_a_perfect_matrix_does_not_fire() -> None:
    labels = np.random.default_rng(0).integers(0, 10, 100)
    assert findings(Confusion(), one_step(labels, labels)) == []


def test_rows_are_divided_by_their_own_labels() -> None:
    # 90 of class 0, all right; 9 of 10 of class 1. Divided by all labels neither share would reach 0.9.
    labels, named = np.repeat([0, 1], [90, 10]), np.repeat([0, 1, 0], [90, 9, 1])
    assert findings(Confusion(), one_step(labels, named)) == []
    (found,) = findings(Confusion(min_diag=0.91), one_step(labels, named))
    assert found.evidence["value"] == pytest.approx(0.9)


def test_a_share_beside_the_diagonal_may_be_too_large_by_itself() -> None:
    labels, named = np.repeat([0, 1], [90, 10]), np.repeat([0, 1, 0], [90, 8, 2])
    assert findings(Confusion(min_diag=0, max_off_diag=0.2), one_step(labels, named)) == []
    (found,) = findings(Confusion(min_diag=0, max_off_diag=0.19), one_step(labels, named))
    assert found.evidence["value"] == pytest.approx(0.2)
    assert found.evidence["threshold"] == 0.19
    assert "more than 19% of it is predicted as one other class" in found.message


def test_tensors_may_be_named_or_come_from_collections() -> None:
    run = one_step([0, 1], [0, 0], ("foo", "bar"))
    with pytest.raises(InsufficientInformationForRuleInvocation, match="labels"):
        findings(Confusion(), run)
    assert len(findings(Confusion(labels="foo", predictions="bar"), run)) == 1
    collections = Collections()
    collections.add_to("truth", "foo")
    collections.add_to("named", "bar")
    run = ScriptedRun(collections)
    run.step(tensors={"foo": np.array([0, 1]), "bar": np.array([0, 0])}, save=True)
    assert len(findings(Confusion(labels_collection="truth", predictions_collection="named"), run)) == 1


def test_a_wrong_number_of_classes_is_refused() -> None:
    run = one_step([0, 3], [0, 3])
    assert findings(Confusion(category_no=4), run) == []
    with pytest.raises(ConfigurationError, match=r"classes are 0 to 2, but there is a class 3.*category_no=4"):
        findings(Confusion(category_no=3), run)


@pytest.mark.parametrize(
    ("labels", "predictions"),
    [
        (np.linspace(0, 1, 8), np.linspace(0, 1, 8)),  # a regression
        (np.zeros((8, 3)), np.random.default_rng(0).random((8, 3))),  # several labels for one sample
        (np.arange(8) * 1_000, np.zeros((8, 2))),  # a vocabulary
    ],
)
def test_what_does_not_speak_of_classes_is_left_alone(labels: npt.ArrayLike, predictions: npt.ArrayLike) -> None:
    run = one_step(labels, predictions, ("MSELoss_input_1", "MSELoss_input_0"))
    with pytest.raises(InsufficientInformationForRuleInvocation, match=r"classes.*'MSELoss_input_1' are not"):
        findings(Confusion(), run)


def test_statistics_do_not_suffice() -> None:
    run = ScriptedRun()
    run.step(tensors={LABELS: np.arange(4), SCORES: np.eye(4)})
    with pytest.raises(InsufficientInformationForRuleInvocation, match="'labels' and collection 'predictions' in full"):
        findings(Confusion(), run)


def test_it_fires_where_a_rule_of_one_run_is_invoked(tmp_path: pytest.TempPathFactory) -> None:
    one_step(np.arange(10), [*range(9), 0]).write(f"{tmp_path}/run")
    with pytest.raises(RuleEvaluationConditionMet, match="Confusion"):
        invoke_rule(Confusion(create_trial(f"{tmp_path}/run")), end_step=1, raise_eval_cond=True)


@pytest.mark.parametrize(
    "argument", [{"min_diag": 1.1}, {"max_off_diag": -1}, {"category_no": 0}, {"category_no": "x"}]
)
def test_impossible_arguments_are_refused(argument: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(argument))):
        Confusion(**argument)  # type: ignore[arg-type]
