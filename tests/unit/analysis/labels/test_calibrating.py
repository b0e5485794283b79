"""What is said of wrong labels holds: their number, the scores, the order; where it cannot, a reason is given."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cutaway.analysis.fixing import choose
from cutaway.analysis.labels import accepted, reliability
from cutaway.analysis.labels.calibrating import how_far_by_heart
from tests.unit.analysis.labels.made import KINDS, Made, make, precision

REASON = "How many labels are wrong cannot be said: "


@cache
def _made(kind: str, seed: int = 0) -> Made:
    return make(kind, seed=seed)


def _place(made: Made) -> np.ndarray:
    """How early each sample comes."""
    found = np.empty(len(made.order))
    found[made.order] = -np.arange(len(made.order))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_is_hardly_below_a_strong_loss(kind: str) -> None:
    made = _made(kind)
    assert precision(made.wrong, _place(made)) >= precision(made.wrong, made.loss) - 0.01


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_the_expected_number_is_not_off_by_half(kind: str, seed: int) -> None:
    made = _made(kind, seed)
    if made.ranked.words[0].startswith(REASON):
        assert np.isnan(made.scores).all()
        return
    assert made.wrong.sum() / 1.5 <= made.scores.sum() <= made.wrong.sum() * 1.5


def test_a_number_is_told_in_most_of_these_cases() -> None:
    told = [not np.isnan(_made(kind, seed).scores).all() for kind in KINDS for seed in range(3)]
    assert sum(told) >= 6


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nothing_is_expected_of_clean_samples_that_are_hard(seed: int) -> None:
    made = _made("none", seed)
    assert (
        np.mean([str(one) != f"class {right}" for one, right in zip(_predicted(made), made.truth, strict=True)]) > 0.1
    )
    if not np.isnan(made.scores).all():
        assert made.scores.sum() <= 0.005 * len(made.scores)
    assert not choose(made.ranked.table, subsets=("",)).decisions


def _predicted(made: Made) -> list[str]:
    return made.samples.table["prediction"].to_pylist()


def test_scores_are_probabilities() -> None:
    told = [_made(kind, seed) for kind in KINDS for seed in range(3)]
    told = [one for one in told if not np.isnan(one.scores).all()]
    scores = np.concatenate([one.scores for one in told])
    wrong = np.concatenate([one.wrong[one.order] for one in told])
    table = reliability(scores, wrong, bins=5).to_pylist()
    for row in table:
        assert row["count"] < 50 or abs(row["score"] - row["share"]) <= 0.15, row
    assert wrong[scores >= 0.9].mean() >= 0.9


def test_suggestions_are_right_as_often_as_they_say() -> None:
    found = []
    for kind in KINDS:
        made = _made(kind)
        sure = accepted(made.ranked.table, by="suggested_score")
        right = [f"class {one}" for one in made.truth[made.order]]
        named = made.ranked.table["suggested"].to_pylist()
        found += [one == other for one, other, kept in zip(named, right, sure, strict=True) if kept]
    assert len(found) > 50
    assert np.mean(found) >= 0.9


def test_count_and_share_are_of_the_same_labels() -> None:
    made = _made("uniform")
    said = made.ranked.words[1]
    assert f"Of all 3,000 labels, about {made.scores.sum():,.0f} are" in said
    assert f"({made.scores.sum() / 3000:.2%}, likely" in said


def test_the_interval_is_about_the_number_that_is_told() -> None:
    made = _made("uniform")
    share, low, high = (
        float(one.rstrip("%)."))
        for one in made.ranked.words[1].split("(")[1].replace(", likely", "").replace(" to", "").split()
    )
    assert low <= share <= high
    assert low <= 100 * made.wrong.mean() <= high


def test_a_model_that_knows_too_little_gives_a_reason_and_an_order_but_no_number() -> None:
    made = make("uniform", apart=1.5)
    assert made.ranked.words[0].startswith(REASON)
    assert "train for longer" in made.ranked.words[0]
    assert len(made.ranked.words) == 2
    assert made.ranked.table["score"].null_count == len(made.order)
    assert made.ranked.table["suggested_score"].null_count == len(made.order)
    assert precision(made.wrong, _place(made)) > 3 * made.wrong.mean()


def test_where_there_is_no_number_nothing_is_corrected_and_the_choice_says_so() -> None:
    made = make("uniform", apart=1.5)
    choice = choose(made.ranked.table, subsets=tuple(set(made.ranked.table["subset"].to_pylist())))
    assert not choice.decisions
    assert "how many are wrong cannot be told" in choice.notes[0]


@pytest.mark.parametrize(
    ("trained", "held_out", "so_far"),
    [(0.1, 0.1, 0.0), (0.1, 0.08, 0.0), (0.1, 0.135, 0.5), (0.1, 0.2, 1.0), (0.0, 0.0, 0.0), (0.0, 0.2, 1.0)],
)
def test_labels_are_learned_by_heart_as_far_as_held_out_ones_are_contradicted_more_often(
    trained: float, held_out: float, so_far: float
) -> None:
    against = [np.arange(2_000) < round(share * 2_000) for share in (trained, held_out)]
    assert how_far_by_heart(*against) == pytest.approx(so_far, abs=0.05)


def test_nothing_is_said_of_learning_by_heart_without_held_out_labels() -> None:
    assert how_far_by_heart(np.ones(50, bool), np.ones(0, bool)) == 0


def test_where_labels_were_learned_by_heart_the_order_is_that_of_what_the_model_said_before() -> None:
    made = make("uniform", 0.1, by_heart=True)
    assert "learned labels by heart" in made.ranked.words[0]
    trained = made.samples.table["subset"].to_numpy(zero_copy_only=False) == "training"
    assert made.samples.dynamics is not None
    said = -made.samples.dynamics.margins[1:].mean(axis=0)
    ours, before, now = (precision(made.wrong[trained], one[trained]) for one in (_place(made), said, _votes(made)))
    assert now < 0.3
    assert ours >= before - 0.05


def _votes(made: Made) -> np.ndarray:
    """How far the neighbours are against each label."""
    found = np.empty(len(made.order))
    found[made.order] = -made.ranked.table["neighbour_margin"].to_numpy()
    return found


def test_more_than_chance_is_expected_of_no_handful() -> None:
    made = make("none", count=60)
    assert "it takes 100 samples" in made.ranked.words[0]
