from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.mapping import make_map, place
from cutaway.errors import AnalysisUnavailable, ConfigurationError

pytest.importorskip("torch")


def label_accuracy(places: np.ndarray, of: np.ndarray, plane: np.ndarray, labels: np.ndarray, *, own: bool) -> float:
    """How often the label of a place is that of most of its 15 neighbours on the plane."""
    neighbours = pytest.importorskip("sklearn.neighbors")
    skip = int(own)
    near = neighbours.NearestNeighbors(n_neighbors=15 + skip).fit(plane).kneighbors(places)[1][:, skip:]
    return float(np.mean([np.bincount(labels[row]).argmax() == label for row, label in zip(near, of, strict=True)]))


def test_new_digits_come_to_lie_among_their_own_as_fitted_ones_do(digits: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = digits
    held = np.random.default_rng(0).permutation(len(images)) < 450
    plane = make_map(images[~held]).positions
    placed = place(images[held], images[~held], plane)
    as_placed = label_accuracy(placed, labels[held], plane, labels[~held], own=False)
    as_fitted = label_accuracy(plane, labels[~held], plane, labels[~held], own=True)
    assert as_placed >= as_fitted - 0.01
    assert as_placed > 0.95


def test_a_sample_of_the_map_lies_near_itself(digits: tuple[np.ndarray, np.ndarray]) -> None:
    images, _ = digits
    plane = make_map(images).positions
    away = np.linalg.norm(place(images[:300], images, plane) - plane[:300], axis=1)
    assert np.median(away) < 0.02 * np.ptp(plane, axis=0).max()


def test_a_place_between_two_clusters_goes_to_the_one_with_more_of_its_neighbours() -> None:
    latents = np.linspace(0, 1, 15)[:, None]
    plane = np.array([[0.0, 0.0]] * 10 + [[100.0, 0.0]] * 5)
    assert place(np.array([[0.3]]), latents, plane)[0, 0] < 5


def test_rows_that_are_not_finite_have_no_place_and_do_not_draw_others() -> None:
    latents = np.array([[0.0], [1.0], [np.nan], [2.0]])
    plane = np.array([[0.0, 0.0], [np.nan, np.nan], [5.0, 5.0], [2.0, 2.0]])
    placed = place(np.array([[0.1], [np.inf]]), latents, plane, neighbours=1)
    assert placed[0].tolist() == [0.0, 0.0]
    assert np.isnan(placed[1]).all()


@pytest.mark.parametrize("size", [1.0, 1e30])
def test_nothing_new_one_sample_and_huge_values(size: float) -> None:
    assert place(np.zeros((0, 2)), np.zeros((3, 2)), np.zeros((3, 2))).shape == (0, 2)
    placed = place(np.array([[size, 0.0]]), np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    assert placed.tolist() == [[3.0, 4.0]]


def test_wrong_arguments_are_named() -> None:
    ones = np.ones((4, 2))
    with pytest.raises(ConfigurationError, match=r"`new` must be as wide as `latents` \(2\), but got 3 columns"):
        place(np.ones((1, 3)), ones, ones)
    with pytest.raises(ConfigurationError, match="neighbours=0"):
        place(ones, ones, ones, neighbours=0)
    with pytest.raises(AnalysisUnavailable, match="no sample of the map has a position"):
        place(ones, ones, ones * np.nan)
