"""Slices hold in halves that did not choose them, and conditions of noise fall off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutaway.analysis.slices import find_slices
from cutaway.analysis.slices.values import HeldBack


def table(seed: int, rows: int = 2000) -> tuple[dict[str, Any], Any, Any]:
    """Return columns of which two matter, the others being noise, the outcome, and the numbers of a plain slice."""
    random = np.random.default_rng(seed)
    columns = {
        "camera": random.choice(list("abcd"), rows, p=[0.3, 0.3, 0.3, 0.1]),
        "label": random.choice(list("0123456789"), rows),
        **{f"noise{number}": random.normal(size=rows) for number in range(6)},
        "shelf": random.integers(1, 9, rows),
    }
    chance = 0.1 + 0.3 * (columns["camera"] == "d") + 0.25 * np.isin(columns["label"], ["1", "4", "7"])
    return columns, (random.random(rows) < chance).astype(float), columns["camera"] == "d"


def about_noise(seed: int, *, confirm: bool) -> list[str]:
    columns, outcome, _ = table(seed)
    found = find_slices(columns, outcome, confirm=confirm, seed=seed)
    return [" and ".join(one.where) for one in found if any(text.startswith(("noise", "shelf")) for text in one.where)]


@pytest.mark.slow
def test_columns_of_noise_that_a_search_tells_beside_real_slices_are_not_confirmed() -> None:
    assert sum(len(about_noise(seed, confirm=False)) for seed in range(6)) >= 1
    assert [about_noise(seed, confirm=True) for seed in range(6)] == [[]] * 6


def test_real_slices_are_confirmed_and_say_what_is_left_of_them() -> None:
    columns, outcome, camera = table(0)
    found = {one.where: one for one in find_slices(columns, outcome, confirm=True)}
    one = found["camera = d",]
    assert (one.rows == camera).all()
    assert one.held_back is not None
    assert one.held_back.p < 0.01
    assert one.held_back.share == 1.0


def test_ends_that_were_chosen_for_being_bad_hold_back_less_than_they_showed() -> None:
    random = np.random.default_rng(1)
    light = random.normal(size=1500)
    outcome = (random.random(1500) < np.where(light > 1, 0.35, 0.1)).astype(float)
    (one,) = find_slices({"light": light, "day": random.normal(size=1500)}, outcome, confirm=True)
    assert one.held_back is not None
    assert 0.5 < one.held_back.share < 1.0


def test_two_conditions_that_both_matter_stay() -> None:
    random = np.random.default_rng(2)
    columns = {
        "camera": random.choice(list("abcd"), 3000),
        "night": random.random(3000) < 0.3,
        "x": random.normal(size=3000),
    }
    both = columns["night"] & (columns["camera"] == "b")
    outcome = (random.random(3000) < np.where(both, 0.45, 0.05)).astype(float)
    (one,) = find_slices(columns, outcome, confirm=True)
    assert set(one.where) == {"camera = b", "night = true"}


def test_without_being_asked_for_nothing_is_halved() -> None:
    columns, outcome, _ = table(0)
    assert {one.held_back for one in find_slices(columns, outcome)} == {None}
    assert HeldBack(0.5, 1.0) == HeldBack(0.5, 1.0)


def test_the_same_seed_confirms_the_same() -> None:
    columns, outcome, _ = table(3)
    first, second = (find_slices(columns, outcome, confirm=True, seed=4) for _ in range(2))
    assert first == second
