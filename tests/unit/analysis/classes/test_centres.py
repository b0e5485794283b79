"""Distances to the centres of classes, against the plain definition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from cutaway.analysis.classes import centres as module
from cutaway.analysis.classes.centres import class_centres, class_distances, in_words, nearest_classes
from cutaway.errors import AnalysisUnavailable, ConfigurationError

CLASSES = ("a", "b", "c")


@given(seed=st.integers(0, 1000), rows=st.integers(1, 40), width=st.integers(1, 6), offset=st.sampled_from([0, 1e4]))
@settings(max_examples=40)
def test_distances_are_those_of_the_definition(seed: int, rows: int, width: int, offset: float) -> None:
    rng = np.random.default_rng(seed)
    latents = (rng.normal(size=(rows, width)) + offset).astype(np.float32)
    labels = rng.choice([*CLASSES, None], rows)
    labels[0] = "b"
    wide = latents.astype(np.float64)
    found = class_distances(latents, labels, CLASSES)
    assert (found.shape, found.dtype) == ((rows, 3), np.float32)
    for column, name in enumerate(CLASSES):
        members = labels == name
        if members.any():
            expected = np.linalg.norm(wide - wide[members].mean(axis=0), axis=1)
            assert np.allclose(found[:, column], expected, rtol=1e-5, atol=1e-5)
        else:
            assert np.isnan(found[:, column]).all()


def test_most_digits_lie_nearest_to_the_centre_of_their_own_class_and_errors_are_explained_by_another() -> None:
    digits = load_digits()
    names = [str(one) for one in range(10)]
    near = nearest_classes(digits.data, digits.target, names, 2)
    assert (near.numbers[:, 0] == digits.target).mean() > 0.9
    row = int(np.flatnonzero(near.numbers[:, 0] != digits.target)[0])
    distances = class_distances(digits.data, digits.target, names)
    own, other = str(digits.target[row]), names[near.numbers[row, 0]]
    words = in_words(distances[row], names, own)
    assert words.startswith(f"{distances[row].min():.2f} to class {other}, ")
    assert f"{distances[row, int(own)]:.2f} to class {own}, its label" in words


def test_words_name_the_nearest_and_the_label_wherever_it_comes() -> None:
    assert in_words([9.0, 7.714, 6.83], ["4", "5", "6"], "5") == "6.83 to class 6, 7.71 to class 5, its label"
    assert in_words([1, 2, 3], CLASSES, "c") == "1.00 to class a, 2.00 to class b, 3.00 to class c, its label"
    assert in_words([1, 2, 3], CLASSES) == "1.00 to class a, 2.00 to class b"
    assert in_words([np.nan, 2, np.nan], CLASSES, "a") == "2.00 to class b"
    assert in_words([np.nan] * 3, CLASSES).startswith("no distances")


def test_rows_that_are_not_finite_move_no_centre_and_have_no_distance() -> None:
    latents = np.array([[0.0], [2.0], [np.nan], [np.inf], [5.0]])
    found = class_distances(latents, ["a", "a", "a", "b", None], CLASSES)
    assert np.array_equal(found[:, 0], np.float32([1, 1, np.nan, np.nan, 4]), equal_nan=True)
    assert np.isnan(found[:, 1:]).all()


def test_centres_can_come_from_some_samples_only() -> None:
    latents = np.array([[0.0], [2.0], [100.0]])
    found = class_centres(latents, ["a", "a", "a"], CLASSES, centres_from=np.array([True, True, False]))
    assert found.centres[0, 0] == 1.0
    assert found.counts.tolist() == [2, 0, 0]


def test_labels_can_be_a_column_of_a_table_or_numbers_with_gaps() -> None:
    latents = np.array([[0.0], [3.0], [1.0]])
    column = pa.chunked_array([["a"], [None, "b"]])
    assert class_distances(latents, column, ("a", "b"))[1].tolist() == [3.0, 2.0]
    assert class_distances(latents, [0, np.nan, 1], ("0", "1"))[1].tolist() == [3.0, 2.0]


def test_ten_thousand_classes_give_the_nearest_few_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    names = [f"class {one}" for one in range(10_000)]
    latents = rng.normal(size=(1_500, 8)).astype(np.float32)
    labels = [names[7 * one] for one in range(1_400)] + [names[0]] * 100
    whole = class_distances(latents, labels, names)
    assert np.isfinite(whole[0]).sum() == 1_400
    near = nearest_classes(latents, labels, names, 3)
    assert np.array_equal(near.distances, np.sort(whole, axis=1)[:, :3])
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * 10_000 * 7)
    in_small_blocks = nearest_classes(latents, labels, names, 3)
    assert np.array_equal(in_small_blocks.numbers, near.numbers)
    assert near.numbers[1:1_400, 0].tolist() == list(range(7, 9_800, 7))


def test_a_table_that_would_fill_the_memory_is_refused_with_its_size_and_the_way_round() -> None:
    latents = np.broadcast_to(np.float32(0), (1_000_000, 2))
    with pytest.raises(
        AnalysisUnavailable, match=r"1,000,000 samples times 10,000 classes take 37.3 GiB.*nearest_classes"
    ):
        class_distances(latents, [], [str(one) for one in range(10_000)])


def test_fewer_classes_than_asked_for_leave_gaps() -> None:
    near = nearest_classes(np.array([[0.0], [np.nan]]), ["b", "b"], CLASSES, 5)
    assert near.numbers.tolist() == [[1, -1, -1, -1, -1], [-1] * 5]
    assert near.distances[0, 0] == 0.0
    assert np.isnan(near.distances[0, 1:]).all()


def test_samples_without_any_label_have_no_distances_and_hear_why() -> None:
    with pytest.raises(AnalysisUnavailable, match="no sample has both a label and a latent vector"):
        class_distances(np.zeros((2, 2)), [None, None], CLASSES)


@pytest.mark.parametrize(
    ("latents", "labels", "message"),
    [
        (np.zeros(3), ["a"] * 3, "`latents` must be numbers with a row for each sample"),
        (np.zeros((3, 1)), ["a"], "There are 3 latent vectors, but 1 labels"),
        (np.zeros((1, 1)), ["A"], "Label 'A' is no class. Did you mean 'a'?"),
    ],
)
def test_wrong_arguments_are_refused_with_the_reason(
    latents: npt.NDArray[np.float64], labels: list[str], message: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        class_distances(latents, labels, CLASSES)
    assert message in str(caught.value)


def test_a_mask_of_another_length_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="`centres_from` must be yes or no for each of 2 samples"):
        class_centres(np.zeros((2, 1)), ["a", "a"], CLASSES, centres_from=np.array([True]))
