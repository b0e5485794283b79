"""Why a label is suspected, in words that need no second reading."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.labels.classwise import Classwise
from cutaway.analysis.labels.evidence import Evidence, Votes
from cutaway.analysis.labels.words import reason_of, suspicion


def evidence(own: int, others: int, ridge: float = np.nan, held_out: float = np.nan) -> Evidence:
    """What is known of one sample with label 0, whose other neighbours have label 1."""
    asked = own + others
    votes = Votes(
        np.array([[0] * own + [1] * others]),
        np.array([asked]),
        np.array([own]),
        np.array([1 if others else -1]),
        np.array([others]),
    )
    return Evidence(None, votes, np.array([ridge]), np.array([held_out]), Classwise.empty(1, 2))


@pytest.mark.parametrize(
    ("own", "others", "ridge", "held_out", "said"),
    [
        (1, 16, np.nan, np.nan, "16 of 17 neighbours are labelled 5; only 1 shares its label, 3"),
        (0, 9, np.nan, np.nan, "9 of 9 neighbours are labelled 5; none shares its label, 3"),
        (4, 6, np.nan, np.nan, "6 of 10 neighbours are labelled 5; 4 share its label, 3"),
        (
            10,
            0,
            0.9,
            np.nan,
            "all 10 neighbours share its label, 3; a classifier trained without it agrees (margin 0.90)",
        ),
        (0, 0, -1.31, np.nan, "a classifier trained without it disagrees (margin 1.31)"),
        (
            1,
            9,
            -1.31,
            -0.5,
            "9 of 10 neighbours are labelled 5; only 1 shares its label, 3; a classifier trained without it also "
            "disagrees (margin 1.31); held out, the model also disagrees (margin 0.50)",
        ),
    ],
)
def test_a_reason_says_what_neighbours_and_classifier_make_of_the_label(
    own: int, others: int, ridge: float, held_out: float, said: str
) -> None:
    assert reason_of(0, "3", evidence(own, others, ridge, held_out), ["3", "5"]) == said


def test_suspicious_labels_are_counted_with_how_many_are_wrong() -> None:
    assert suspicion(334, 277.6) == "334 suspicious labels; expect about 278 to be wrong"
    assert suspicion(1, 0.6) == "1 suspicious label; expect about 1 to be wrong"
    assert suspicion(0, 0.0) == "no suspicious label"
