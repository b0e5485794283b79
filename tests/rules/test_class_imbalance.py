"""ClassImbalance."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.class_imbalance import ClassImbalance
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

LABELS, SCORES = "CrossEntropyLoss_input_1", "CrossEntropyLoss_input_0"


def fed(
    counts: Sequence[int],
    steps: int = 30,
    named: npt.ArrayLike | None = None,
    names: tuple[str, str] = (LABELS, SCORES),
    mode: ModeKeys = ModeKeys.TRAIN,
) -> ScriptedRun:
    """A run whose every batch holds so many labels of each class, answered rightly or with `named`."""
    labels = np.repeat(np.arange(len(counts)), counts)
    answer = labels if named is None else np.asarray(named)
    run = ScriptedRun()
    for _ in range(steps):
        run.step(mode, tensors={names[0]: labels, names[1]: np.eye(len(counts))[answer]}, save=True)
    return run


class TestClassImbalance(RuleContract):
    rule = ClassImbalance

    def sick(self) -> tuple[ScriptedRun, int]:
        # 25 labels a step: the 500th is in step 19.
        return fed([22, 1, 2]), 19

    def healthy(self) -> ScriptedRun:
        return fed([20, 2, 3])


def test_its_message_names_the_rare_class_its_count_and_share() -> None:
    (found,) = findings(ClassImbalance(), fed([22, 1, 2]))
    assert found.message == (
        "Class 1 is rare: 20 of 500 labels up to step 19 are its (4.0%), while class 0 has 440, 22 times as many; "
        "10 times are allowed."
    )
    assert found.where["tensor"] == LABELS
    assert found.evidence["value"] == 22
    assert found.evidence["counts"] == [440, 20, 40]


def test_the_threshold_is_not_itself_too_much() -> None:
    assert findings(ClassImbalance(threshold_imbalance=22), fed([22, 1, 2])) == []
    assert len(findings(ClassImbalance(threshold_imbalance=21.9), fed([22, 1, 2]))) == 1


@pytest.mark.parametrize(("samples", "first"), [(100, 3), (500, 19), (501, 20)])
def test_it_looks_once_there_are_enough_labels(samples: int, first: int) -> None:
    assert [one.where["step"] for one in findings(ClassImbalance(samples=samples), fed([22, 1, 2]))] == [first]


def test_many_classes_need_more_labels_since_few_differ_by_chance() -> None:
    run, chance = ScriptedRun(), np.random.default_rng(0)
    for _ in range(40):
        labels = chance.integers(0, 100, 100)
        run.step(tensors={LABELS: labels, SCORES: np.eye(100)[labels]}, save=True)
    assert findings(ClassImbalance(), run) == []


def test_what_an_evaluation_is_fed_does_not_count() -> None:
    assert findings(ClassImbalance(), fed([22, 1, 2], mode=ModeKeys.EVAL)) == []
    assert len(findings(ClassImbalance(), fed([22, 1, 2], mode=ModeKeys.GLOBAL))) == 1


def test_a_class_that_is_nearly_always_mispredicted_is_named() -> None:
    # 20 labels a step; of a model that learns four times 500 must have been seen.
    named = [0] * 5 + [1] * 5 + [1, 1, 1, 1, 2] + [3] * 5
    (found,) = findings(ClassImbalance(), fed([5, 5, 5, 5], 120, named))
    assert found.where == {"step": 99, "mode": "TRAIN", "tensor": SCORES}
    assert found.message == (
        "Class 2 is mispredicted: 80% of its last 125 labels in TRAIN steps up to step 99 were predicted wrongly, "
        "most often as class 1; 70% are allowed."
    )
    assert findings(ClassImbalance(threshold_misprediction=0.8), fed([5, 5, 5, 5], 120, named)) == []


def test_named_tensors_are_judged_after_as_many_samples_as_asked() -> None:
    run = fed([5, 5, 5, 5], 40, [0] * 20, ("my_labels", "my_predictions"))
    (found,) = findings(ClassImbalance(samples=100), run)
    assert found.where == {"step": 4, "mode": "TRAIN", "tensor": "my_predictions"}


def test_a_model_that_learns_is_left_alone() -> None:
    run, labels = ScriptedRun(), np.arange(100) % 10
    for step in range(100):
        answer = labels.copy()
        answer[step:] = 0  # a class after the other, from nothing known to nearly everything
        run.step(tensors={LABELS: labels, SCORES: np.eye(10)[answer]}, save=True)
    assert findings(ClassImbalance(), run) == []


def test_one_hot_labels_need_argmax() -> None:
    run, labels = ScriptedRun(), np.repeat([0, 1, 2], [22, 1, 2])
    for _ in range(30):
        run.step(tensors={LABELS: np.eye(3)[labels], SCORES: np.eye(3)[labels] + 0.5}, save=True)
    with pytest.raises(InsufficientInformationForRuleInvocation, match="numbers of at most 1,000 classes"):
        findings(ClassImbalance(), run)
    assert [one.where["step"] for one in findings(ClassImbalance(argmax=True), run)] == [19]


def test_scores_of_two_classes_are_understood() -> None:
    run, labels = ScriptedRun(), np.repeat([0.0, 1.0], [24, 1])
    for _ in range(100):
        tensors = {"BCEWithLogitsLoss_input_1": labels, "BCEWithLogitsLoss_input_0": np.full(25, -0.5)}
        run.step(tensors=tensors, save=True)
    rare, mispredicted = findings(ClassImbalance(), run)
    assert rare.evidence["value"] == 24
    assert (mispredicted.evidence["class"], mispredicted.evidence["value"]) == (1, 1)


def test_a_regex_adds_tensors() -> None:
    run = fed([22, 1, 2], names=("truth", "said"))
    with pytest.raises(InsufficientInformationForRuleInvocation, match="needs collection 'labels'"):
        findings(ClassImbalance(), run)
    assert len(findings(ClassImbalance(labels_regex="truth", predictions_regex="said"), run)) == 1


def test_labels_without_predictions_are_refused_by_name() -> None:
    run = ScriptedRun()
    run.step(tensors={LABELS: np.arange(3), SCORES: np.eye(3), "more_labels": np.arange(3)}, save=True)
    with pytest.raises(InsufficientInformationForRuleInvocation, match="one tensor of predictions for each"):
        findings(ClassImbalance(), run)


@pytest.mark.parametrize(
    "argument",
    [
        {"threshold_imbalance": 0},
        {"threshold_misprediction": 2},
        {"samples": 0},
        {"argmax": "maybe"},
        {"labels_regex": "("},
    ],
)
def test_impossible_arguments_are_refused(argument: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(argument))):
        ClassImbalance(**argument)  # type: ignore[arg-type]
