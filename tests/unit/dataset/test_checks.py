"""What is said of a single encoded sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cutaway.dataset.checks import class_of, digest_of_scalars, is_missing, label_problems, summary
from cutaway.dataset.functions import Field

FIELD = Field("x")


@given(arrays(np.float32, array_shapes(), elements=st.floats(-100, 100, width=32)))
def test_a_summary_depends_on_the_values_alone(values: np.ndarray) -> None:
    first = summary(values, FIELD)
    assert first == summary(np.asfortranarray(values), FIELD)
    assert first.shape == values.shape
    assert first.largest == np.abs(values).max()
    assert not first.problems
    changed = values.copy()
    changed.flat[0] += 1000
    assert summary(changed, FIELD).digest != first.digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.zeros(4), np.zeros((2, 2))),
        (np.zeros(4, np.float32), np.zeros(4, np.float64)),
        (np.zeros(1, np.int32), np.zeros(1, np.uint32)),
    ],
)
def test_shape_and_dtype_are_part_of_the_digest(one: np.ndarray, other: np.ndarray) -> None:
    assert summary(one, FIELD).digest != summary(other, FIELD).digest


def test_integers_cannot_be_missing_and_one_number_is_no_constant() -> None:
    assert summary(np.array([1, 2]), FIELD).problems == ()
    assert not summary(np.array(7.0), FIELD).constant
    assert summary(np.array([7.0, 7.0]), FIELD).constant


@given(st.integers(2, 12), st.data())
def test_one_hot_and_number_name_the_same_class(classes: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, classes - 1))
    assert class_of(np.eye(classes)[number], classes) == number
    assert class_of(np.array(number), classes) == number
    assert class_of(np.array([float(number)]), classes) == number
    labels = [str(i) for i in range(classes)]
    assert label_problems(np.eye(classes)[number], labels, FIELD) == []
    assert label_problems(np.array(number), labels, FIELD) == []
    assert [one.code for one in label_problems(np.array(number + classes), labels, FIELD)] == ["binding-label-range"]


@pytest.mark.parametrize("value", [None, "", float("nan"), float("inf")])
def test_what_is_missing(value: float | str | None) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, False, 0.0, "None", "nan"])
def test_what_is_not_missing(value: float | str) -> None:
    assert not is_missing(value)


def test_metadata_that_looks_alike_hashes_differently() -> None:
    assert len({digest_of_scalars({"a": value}) for value in (1, 1.0, "1", True)}) == 4
    assert digest_of_scalars({"a": float("nan")}) == digest_of_scalars({"a": float("nan")})
