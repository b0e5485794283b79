"""What people give as a batch, fitted to a model's inputs: names, dtypes, axes, a fixed batch size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ModelInputError
from cutaway.models import TensorSpec
from cutaway.models.backend import Question
from cutaway.models.batches import fitted, given_axes, portions

PAIR = (TensorSpec("image", (None, 2)), TensorSpec("size", (None, 1), "int64"))
NCHW = TensorSpec("image", (None, 3, 8, 6), channel_axis=1)
NHWC = TensorSpec("image", (None, 8, 6, 3), channel_axis=-1)


def one(values: object, spec: TensorSpec, channels_last: bool | None = None) -> np.ndarray:
    return fitted(values, [spec], channels_last=channels_last)[spec.name]


def test_one_array_a_list_and_a_mapping_are_the_same() -> None:
    image, size = np.ones((4, 2), np.float32), np.ones((4, 1), np.int64)
    for batch in ([image, size], (image, size), {"size": size, "image": image}):
        arrays = fitted(batch, PAIR)
        assert list(arrays) == ["image", "size"]
        assert arrays["size"] is size or np.array_equal(arrays["size"], size)
    assert one(image, PAIR[0]).shape == (4, 2)


def test_a_tensor_of_another_library_is_one_array_and_not_its_rows() -> None:
    class Tensor:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.ones((4, 2), np.float32)

    assert one(Tensor(), PAIR[0]).shape == (4, 2)


def test_unknown_and_missing_inputs_are_named() -> None:
    image = np.ones((4, 2), np.float32)
    with pytest.raises(
        ModelInputError, match=r"Input 'imgae'.*Did you mean 'image'\? It has 'image', 'size'"
    ) as caught:
        fitted({"imgae": image}, PAIR)
    assert caught.value.input == "imgae"
    with pytest.raises(ModelInputError, match=r"Input 'size'.*is missing; the batch has 'image'"):
        fitted({"image": image}, PAIR)
    with pytest.raises(ModelInputError, match=r"has 2 inputs \(image, size\), but the batch has 1"):
        fitted([image], PAIR)


def test_inputs_have_as_many_rows() -> None:
    with pytest.raises(ModelInputError, match=r"as many rows, but they have \{'image': 4, 'size': 3\}"):
        fitted([np.ones((4, 2)), np.ones((3, 1))], PAIR)


@pytest.mark.parametrize(
    ("given_dtype", "wanted"),
    [("float64", "float32"), ("uint8", "float32"), ("int64", "int32"), ("float32", "int64"), ("bool", "float32")],
)
def test_numbers_are_cast_where_nothing_is_lost(given_dtype: str, wanted: str) -> None:
    values = one(np.array([[0, 1]], given_dtype), TensorSpec("x", (None, 2), wanted))
    assert values.dtype == wanted
    assert values.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("values", "wanted", "words"),
    [
        ([[0.5]], "int64", "not whole"),
        ([[np.nan]], "int64", "cannot hold"),
        ([[300]], "uint8", "too large"),
        ([[-1]], "uint8", "too large"),
        ([[2]], "bool", "too large"),
        ([[1e300]], "float32", "cannot hold"),
        ([["a"]], "float32", "takes float32, but got <U1"),
        ([[1 + 2j]], "float32", "takes float32, but got complex128"),
    ],
)
def test_numbers_that_would_become_others_are_refused(values: object, wanted: str, words: str) -> None:
    with pytest.raises(ModelInputError, match=words):
        one(np.array(values), TensorSpec("x", (None, 1), wanted))


def test_infinity_and_nan_stay_what_they_are() -> None:
    values = one(np.array([[np.inf, np.nan]]), TensorSpec("x", (None, 2)))
    assert np.isinf(values[0, 0])
    assert np.isnan(values[0, 1])


def test_texts_pass_as_they_are_and_an_input_that_tells_nothing_takes_anything() -> None:
    assert one(np.array([["a"]]), TensorSpec("x", (None, 1), "str")).tolist() == [["a"]]
    assert one(np.array([3]), TensorSpec("x", (), "")).dtype == np.int64


def test_channels_go_to_where_the_model_has_them() -> None:
    last = np.random.default_rng(0).normal(size=(2, 8, 6, 3)).astype(np.float32)
    first = np.moveaxis(last, -1, 1)
    assert np.array_equal(one(last, NCHW, channels_last=True), first)
    assert np.array_equal(one(first, NHWC, channels_last=False), last)
    assert np.array_equal(one(last, NHWC, channels_last=True), last)
    assert one(last, NCHW, channels_last=True).flags.c_contiguous


def test_nothing_moves_without_a_word_and_the_error_says_which() -> None:
    last = np.ones((2, 8, 6, 3), np.float32)
    with pytest.raises(ModelInputError, match=r"\(3, 8, 6\), but got \(8, 6, 3\).*`channels_last=True`"):
        one(last, NCHW)
    with pytest.raises(ModelInputError, match=r"`channels_last=False`"):
        one(np.moveaxis(last, -1, 1), NHWC)
    unsaid = TensorSpec("image", (None, 3, 8, 6))
    with pytest.raises(ModelInputError) as caught:
        one(last, unsaid)
    assert "channels_last" not in str(caught.value)


def test_a_sample_without_a_batch_axis_is_told_apart() -> None:
    with pytest.raises(ModelInputError, match=r"one sample without an axis for the batch: give `values\[None\]`"):
        one(np.ones((3, 8, 6), np.float32), NCHW)
    with pytest.raises(ModelInputError, match=r"no axis for the samples"):
        one(np.float32(3), TensorSpec("x", (None,)))


@given(st.integers(0, 4), st.sampled_from([4, 5]), st.booleans(), st.booleans())
def test_axes_turned_for_the_model_turn_back(rows: int, rank: int, given_last: bool, model_last: bool) -> None:
    shape = (rows, *range(3, 2 + rank))
    spec = TensorSpec("x", (None,) * rank, channel_axis=-1 if model_last else 1)
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    turned = one(values, spec, channels_last=given_last)
    assert np.array_equal(given_axes(turned, spec, channels_last=given_last), values)
    assert (turned.shape == values.shape) == (given_last == model_last)


@given(st.integers(0, 23), st.one_of(st.none(), st.integers(1, 7)))
def test_portions_are_full_and_together_the_whole(rows: int, size: int | None) -> None:
    values = np.arange(rows * 2).reshape(rows, 2)
    labels = np.arange(rows)
    parts = list(portions({"x": values}, size))
    whole = Question("y", "x", target=labels, labels=labels)
    for part in parts:
        wanted = rows if size is None else size
        assert len(part.arrays["x"]) == wanted
        question = part.question(whole)
        assert question.target is not None
        assert len(question.target) == wanted
        assert np.array_equal(question.target[: part.rows], labels[part.start : part.start + part.rows])
    assert np.array_equal(np.concatenate([part.arrays["x"][: part.rows] for part in parts]), values)
