"""Rounds of validation."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cutaway.rules.losses import LossCurve
from cutaway.rules.validation_rounds import ValidationRound, ValidationRounds
from cutaway.tensors.modes import ModeKeys


def curves(kinds: str, first: int = 0) -> list[LossCurve]:
    """Return the losses of steps written as letters: t trains, e evaluates; the loss is the number of the step."""
    found = []
    for letter, mode in (("t", ModeKeys.TRAIN), ("e", ModeKeys.EVAL)):
        steps = np.array([first + i for i, kind in enumerate(kinds) if kind == letter], np.int64)
        if len(steps):
            found.append(LossCurve("loss", mode, steps, steps.astype(np.float64), 0))
    return found


def rounds(kinds: str) -> list[ValidationRound]:
    return ValidationRounds().read(curves(kinds)).get("loss", [])


def test_the_first_round_is_known_when_training_goes_on() -> None:
    assert rounds("tttee") == []
    assert rounds("ttteet") == [ValidationRound(5, 3.5, 1.0)]


def test_a_round_as_long_as_the_one_before_is_known_at_its_end() -> None:
    assert rounds("tteettee") == [ValidationRound(4, 2.5, 0.5), ValidationRound(7, 6.5, 4.5)]


def test_a_shorter_round_is_known_when_training_goes_on() -> None:
    assert rounds("teetet") == [ValidationRound(3, 1.5, 0.0), ValidationRound(5, 4.0, 3.0)]


def test_a_longer_round_is_told_once_and_sets_the_length() -> None:
    assert [one.step for one in rounds("tetee")] == [2, 3]
    assert [one.step for one in rounds("teteetee")] == [2, 3, 7]


def test_values_that_are_not_finite_are_left_out_of_the_means() -> None:
    train, check = curves("tteet")
    check.values[0] = np.nan
    train.values[0] = np.inf
    (found,) = ValidationRounds().read([train, check])["loss"]
    assert found == ValidationRound(4, 3.0, 1.0)


def test_another_mode_is_no_part_of_a_round() -> None:
    predicted = LossCurve("loss", ModeKeys.PREDICT, np.array([7]), np.array([100.0]), 0)
    assert ValidationRounds().read([predicted]) == {}


@given(st.text("te", max_size=60), st.lists(st.integers(1, 10), max_size=20))
def test_it_finds_the_same_however_the_run_is_cut(kinds: str, cuts: list[int]) -> None:
    following, found, first = ValidationRounds(), [], 0
    for length in [*cuts, len(kinds)]:
        found += following.read(curves(kinds[first : first + length], first)).get("loss", [])
        first += length
    assert np.array_equal(np.array(found), np.array(rounds(kinds)), equal_nan=True)
