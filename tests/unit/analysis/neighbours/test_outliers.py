from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.neighbours import build_index
from cutaway.analysis.neighbours.nearest import nearest_of
from cutaway.analysis.neighbours.outliers import find_outliers
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.errors import AnalysisUnavailable, ConfigurationError


def vectors(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 5)).astype(np.float32)


def found(latents: np.ndarray, subsets: list[str] | None = None, **about: object) -> Ranked:
    samples = Samples.from_arrays(latents, columns=None if subsets is None else {"subset": subsets})
    return find_outliers(samples, nearest_of(samples, lambda: build_index(latents)), **about)  # type: ignore[arg-type]


def test_usual_samples_give_an_empty_table_that_names_the_farthest() -> None:
    result = found(vectors(300))
    assert len(result) == 0
    assert "No sample lies farther" in result.words[0]
    assert "No subset is training" in result.notes[-1]


def test_a_crowd_of_strange_test_samples_is_found_though_they_are_near_to_each_other() -> None:
    latents = vectors(440)
    latents[400:] = 30 + latents[400:] / 100
    result = found(latents, ["training"] * 300 + ["test"] * 140)
    assert set(result.table["sample"].to_pylist()) >= {str(row) for row in range(400, 440)}
    assert set(result.table["subset"].to_pylist()) == {"test"}
    assert "of 140 test samples lie outside" in result.words[0]


def test_a_strange_subset_does_not_make_others_strange() -> None:
    latents = vectors(500)
    latents[400:] += 40
    result = found(latents, ["training"] * 300 + ["validation"] * 100 + ["test"] * 100)
    assert result.table["subset"].to_pylist().count("test") == 100
    assert result.table["subset"].to_pylist().count("validation") <= 1


def test_failed_samples_are_said_and_are_no_outliers() -> None:
    latents = vectors(300)
    latents[:7] = np.nan
    result = found(latents)
    assert len(result) == 0
    assert result.notes[0].startswith("7 of 300 samples are left out")


def test_samples_that_all_lie_on_each_other_have_no_outliers_but_one_apart_is_one() -> None:
    latents = np.ones((100, 3), np.float32)
    assert len(found(latents)) == 0
    latents[5] = 4
    result = found(latents)
    assert result.table["sample"].to_pylist() == ["5"]
    assert "where others lie on each other" in result.table["reason"][0].as_py()


@pytest.mark.parametrize("latents", [vectors(1), vectors(29), np.full((50, 3), np.nan, np.float32)])
def test_too_few_usable_samples_are_a_reason(latents: np.ndarray) -> None:
    with pytest.raises(AnalysisUnavailable, match="30 are needed to say what is usual"):
        found(latents)


def test_few_training_samples_leave_it_to_all_to_say_what_is_usual() -> None:
    result = found(vectors(200), ["training"] * 10 + ["unlabeled"] * 190)
    assert "No subset is training" in result.notes[-1]


def test_scores_fall_and_are_one_less_the_share_of_chance() -> None:
    latents = vectors(330)
    latents[300:] *= np.linspace(2, 6, 30)[:, None]
    table = found(latents, ["training"] * 300 + ["test"] * 30).table
    scores = table["score"].to_numpy()
    assert (np.diff(scores) <= 0).all()
    assert scores.min() >= 0.9
    assert (table["p"].to_numpy() <= 0.1).all()


def test_a_model_that_is_sure_of_a_strange_sample_is_said() -> None:
    latents = vectors(301)
    latents[300] = 50
    chances = np.tile(np.array([[0.99, 0.01]], np.float32), (301, 1))
    samples = Samples.from_arrays(latents, [0] * 301, chances)
    table = find_outliers(samples, nearest_of(samples, lambda: build_index(latents))).table
    assert "sure of it all the same (0.99)" in table["reason"][0].as_py()
    assert table["label"].to_pylist() == ["0"]


def test_wrong_arguments_say_what_must_hold() -> None:
    with pytest.raises(ConfigurationError, match="0 < false_share < 1"):
        found(vectors(40), false_share=1.0)
