"""Choosing samples to label: the greedy order against its definition, and samples of every odd kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.analysis.labelling import METHODS, choose_to_label
from cutaway.analysis.labelling.covering import Cover
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable, ConfigurationError


def some(rows: int = 120, labelled: int = 20, width: int = 4, seed: int = 0) -> Samples:
    chance = np.random.default_rng(seed)
    latents = chance.normal(size=(rows, width)).astype(np.float32)
    labels = [int(one) if row < labelled else None for row, one in enumerate(chance.integers(0, 3, rows))]
    scores = chance.gamma(0.5, size=(rows, 3)) + 1e-6
    return Samples.from_arrays(latents, labels, scores / scores.sum(1, keepdims=True))


def chosen(samples: Samples, count: int, **how: Any) -> list[str]:
    return choose_to_label(samples, count, **how).table["sample"].to_pylist()


@given(seed=st.integers(0, 1000), labelled=st.integers(1, 30), count=st.integers(1, 25))
@settings(max_examples=15, deadline=None)
def test_a_coreset_is_the_greedy_k_centre_of_its_definition(seed: int, labelled: int, count: int) -> None:
    samples = some(80, labelled, seed=seed)
    vectors = samples.latents.astype(np.float64)
    covering, expected = list(range(labelled)), []
    for _ in range(count):
        distances = np.linalg.norm(vectors[:, None] - vectors[covering][None], axis=2).min(1)
        expected.append(int(distances.argmax()))
        covering.append(expected[-1])
    assert chosen(samples, count, method="coreset") == [str(one) for one in expected]


def test_looking_closely_at_a_few_candidates_chooses_as_looking_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = some(400, 10)
    whole = choose_to_label(samples, 100, method="coreset").table
    monkeypatch.setattr("cutaway.analysis.labelling.covering.CLOSELY", 16)
    part = choose_to_label(samples, 100, method="coreset").table
    assert part["sample"] == whole["sample"]
    assert part["nearest"] == whole["nearest"]
    assert np.allclose(part["distance"].to_numpy(), whole["distance"].to_numpy(), atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_every_prefix_is_the_shorter_choice_and_scores_never_grow(method: str) -> None:
    samples = some()
    long = choose_to_label(samples, 60, method=method).table
    assert chosen(samples, 7, method=method) == long["sample"].to_pylist()[:7]
    assert (np.diff(long["score"].to_numpy()) <= 0).all()
    assert len(set(long["sample"].to_pylist())) == 60
    assert long["rank"].to_pylist() == list(range(1, 61))


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_list_and_leaves_the_global_state_alone(method: str) -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]
    assert chosen(some(), 30, method=method, seed=3) == chosen(some(), 30, method=method, seed=3)
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]


def test_the_table_names_the_evidence() -> None:
    found = choose_to_label(some(), 5)
    assert found.table.column_names == [
        "sample", "score", "reason", "rank", "uncertainty", "distance", "nearest", "prediction", "subset",
    ]  # fmt: skip
    assert "away from the nearest labelled or chosen sample" in found.table["reason"][0].as_py()
    assert found.words[0] == "label 5 of 100 unlabelled samples next, chosen by mix, the first before the last"


def test_copies_of_a_chosen_sample_come_last() -> None:
    latents = np.array([[0.0], [5.0], [5.0], [5.0], [9.0]], np.float32)
    samples = Samples.from_arrays(latents, [0, None, None, None, None])
    assert chosen(samples, 4, method="coreset")[:2] == ["4", "1"]
    assert choose_to_label(samples, 4, method="coreset").table["score"].to_pylist()[2:] == [0.0, 0.0]


def test_an_outlier_comes_first_in_a_coreset_and_late_in_a_mix() -> None:
    samples = some(200, 20)
    samples.latents[150] = 60.0
    assert chosen(samples, 1, method="coreset") == ["150"]
    assert "150" not in chosen(samples, 20)


def test_without_labels_it_begins_in_the_middle_and_says_so() -> None:
    samples = Samples.from_arrays(np.array([[-9.0], [0.1], [9.0], [10.0]], np.float32))
    found = choose_to_label(samples, 3, method="coreset")
    assert found.table["sample"][0].as_py() in ("1", "2")
    assert found.table["distance"][0].as_py() is None
    assert any("No sample has a label" in one for one in found.notes)


def test_a_mix_without_probabilities_goes_by_distances_and_says_so() -> None:
    samples = Samples.from_arrays(some().latents, [0] * 20 + [None] * 100)
    assert any("distances alone" in one for one in choose_to_label(samples, 5).notes)
    with pytest.raises(AnalysisUnavailable, match="coreset"):
        choose_to_label(samples, 5, method="uncertainty")


def test_only_samples_of_the_unlabeled_subset_are_chosen() -> None:
    subsets = ["training"] * 30 + ["unlabeled"] * 30
    samples = Samples.from_arrays(some(60).latents, None, None, {"subset": subsets})
    assert {int(one) >= 30 for one in chosen(samples, 30)} == {True}


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_are_not_finite_are_left_out_and_counted(method: str) -> None:
    samples = some()
    samples.latents[[50, 60]] = np.nan
    found = choose_to_label(samples, 200, method=method)
    assert len(found) == 98
    assert any("2 without a finite latent vector" in one for one in found.notes)
    assert any("200 were asked for" in one for one in found.notes)


@pytest.mark.parametrize("method", METHODS)
def test_constant_rows_and_one_candidate_are_no_trouble(method: str) -> None:
    samples = some(30, 29)
    samples.latents[:] = 1.0
    assert chosen(samples, 3, method=method) == ["29"]


def test_where_every_sample_has_a_label_it_says_what_to_bind() -> None:
    with pytest.raises(AnalysisUnavailable, match="set_unlabeled_data_preprocess"):
        choose_to_label(some(20, 20), 3)
    regression = Samples.from_arrays(np.eye(4), None, None, {"subset": ["training"] * 4})
    with pytest.raises(AnalysisUnavailable, match="each of 4 samples has a label"):
        choose_to_label(regression, 3)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'coreset'"):
        choose_to_label(some(), 3, method="corset")
    with pytest.raises(ConfigurationError, match="count=0"):
        choose_to_label(some(), 0)


def test_progress_reaches_the_end() -> None:
    told: list[Any] = []
    choose_to_label(some(), 12, progress=told.append)
    assert (told[-1].done, told[-1].total) == (12, 12)


def test_a_cover_of_nothing_is_infinitely_far() -> None:
    cover = Cover(np.eye(3, dtype=np.float32), np.zeros((0, 3), np.float32))
    assert np.isinf(cover.distances).all()
    assert (cover.nearest == -1).all()
