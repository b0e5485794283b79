"""Labels and predictions as class numbers."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.rules.classification import Answers, RecentAnswers, class_numbers
from cutaway.tensors.modes import ModeKeys

CHANCE = np.random.default_rng(0)
MASKS = CHANCE.integers(0, 3, (2, 4, 5))


@pytest.mark.parametrize(
    ("labels", "predictions", "true", "named"),
    [
        ([0, 2], [0, 1], [0, 2], [0, 1]),  # class numbers
        ([0.0, 2.0], [[9, 1, 1], [1, 1, 9]], [0, 2], [0, 2]),  # labels as floats, scores per class
        ([[0], [1]], [[9, 1], [9, 1]], [0, 1], [0, 0]),  # labels with an axis of their own
        ([0, -100, 1], [[9, 1], [9, 1], [1, 9]], [0, 1], [0, 1]),  # labels that the loss leaves out
        ([0, 1], [0.4, 0.6], [0, 1], [0, 1]),  # chances of the second of two classes
        ([0.0, 1.0], [-3.0, 0.2], [0, 1], [0, 1]),  # scores of it
        ([[0.0], [1.0]], [[0.4], [0.6]], [0, 1], [0, 1]),
        (MASKS, np.moveaxis(np.eye(3)[MASKS], -1, 1), MASKS.reshape(-1), MASKS.reshape(-1)),  # a class a pixel
        (MASKS[0], np.eye(3)[MASKS[0]], MASKS[0].reshape(-1), MASKS[0].reshape(-1)),  # the classes last
    ],
)
def test_classes_are_read_in_every_usual_form(
    labels: npt.ArrayLike, predictions: npt.ArrayLike, true: list[int], named: list[int]
) -> None:
    found = class_numbers(np.asarray(labels), np.asarray(predictions))
    assert found is not None
    assert [one.tolist() for one in found] == [list(true), list(named)]


def test_scores_of_two_classes_may_be_known_to_be_logits() -> None:
    labels, scores = np.array([0, 1]), np.array([0.1, 0.3])
    for logits, named in ((False, [0, 0]), (True, [1, 1])):
        found = class_numbers(labels, scores, logits=logits)
        assert found is not None
        assert found[1].tolist() == named


@pytest.mark.parametrize(
    ("labels", "predictions"),
    [
        ([0.5, 1.5], [0.5, 1.5]),
        ([0, 1, 2], [0, 1]),
        ([], []),
        ([-100, -100], [[1, 2], [1, 2]]),
        ([np.nan, 1.0], [0.0, 1.0]),
        ([0, 5_000], [0, 1]),
        ([0, 1, 2], [0.2, 1.3, 2.1]),
        (["cat", "dog"], ["cat", "cat"]),
    ],
)
def test_everything_else_is_refused(labels: npt.ArrayLike, predictions: npt.ArrayLike) -> None:
    assert class_numbers(np.asarray(labels), np.asarray(predictions)) is None


def answers(step: int, labels: list[int], predictions: list[int]) -> Answers:
    return Answers(step, ModeKeys.TRAIN, np.array(labels), np.array(predictions))


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=6), min_size=1), st.data()
)
def test_the_matrix_is_that_of_the_last_steps_which_hold_enough(
    steps: list[list[tuple[int, int]]], data: st.DataObject
) -> None:
    most = data.draw(st.integers(1, 20))
    recent = RecentAnswers()
    for step, pairs in enumerate(steps):
        recent.add(answers(step, [true for true, _ in pairs], [named for _, named in pairs]), most)
    kept: list[tuple[int, int]] = []
    for pairs in reversed(steps):
        kept = [*pairs, *kept]
        if len(kept) >= most:
            break
    expected = np.zeros((5, 5), int)
    for true, named in kept:
        expected[true, named] += 1
    assert recent.matrix(5).tolist() == expected.tolist()
    assert recent.seen == sum(map(len, steps))


def test_a_model_has_settled_when_it_is_no_better_than_a_quarter_of_the_way() -> None:
    recent = RecentAnswers()
    for step in range(8):
        recent.add(answers(step, [0] * 10, [0] * (step + 1) + [1] * (9 - step)), 10)
    assert not recent.has_settled
    for step in range(8, 40):
        recent.add(answers(step, [0] * 10, [0] * 8 + [1] * 2), 10)
    assert recent.has_settled
