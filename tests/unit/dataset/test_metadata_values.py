"""What a metadata function returns as columns."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.dataset import DatasetMetadataType
from cutaway.dataset.functions import MetadataField
from cutaway.dataset.metadata_values import Unusable, metadata_columns

INT, FLOAT, TEXT, BOOL = (
    DatasetMetadataType.int,
    DatasetMetadataType.float,
    DatasetMetadataType.string,
    DatasetMetadataType.boolean,
)


def column(value: Any, declared: Any = None) -> Any:
    return metadata_columns(MetadataField("m", declared), value)["m"]


@pytest.mark.parametrize(
    ("value", "declared", "kept"),
    [
        (3, None, 3),
        (np.int64(3), None, 3),
        (np.array(3), None, 3),
        (True, None, True),
        (np.bool_(True), None, True),
        (1.5, None, 1.5),
        (np.float32(1.5), None, 1.5),
        (math.inf, None, math.inf),
        ("text", None, "text"),
        (np.str_("text"), None, "text"),
        (b"image_0.jpg", None, "image_0.jpg"),
        ("half \ud800", None, "half \\ud800"),
        ("7", INT, 7),
        (" 7 ", INT, 7),
        ("7.0", INT, 7),
        (7.0, INT, 7),
        (True, INT, 1),
        (str(2**53 + 1), INT, 2**53 + 1),
        ("7", FLOAT, 7.0),
        (7, FLOAT, 7.0),
        ("1e3", FLOAT, 1000.0),
        ("nan", FLOAT, None),
        ("nan", INT, None),
        (7, TEXT, "7"),
        ("7", TEXT, "7"),
        ("True", BOOL, True),
        ("no", BOOL, False),
        (1, BOOL, True),
        (0.0, BOOL, False),
        (None, INT, None),
        (None, TEXT, None),
        (math.nan, FLOAT, None),
        (math.nan, TEXT, None),
    ],
)
def test_values_become_what_is_declared(value: Any, declared: Any, kept: Any) -> None:
    found = column(value, declared)
    assert found == kept
    assert type(found) is type(kept)


@pytest.mark.parametrize(
    ("value", "declared", "said"),
    [
        (None, None, "metadata_type=DatasetMetadataType.float"),
        (math.nan, None, "declared type"),
        ("seven", INT, "'seven' is no number. Declare string"),
        ("", FLOAT, "is no number"),
        (7.5, INT, "7.5 is not whole"),
        ("7.5", INT, "not whole"),
        (math.inf, INT, "not whole"),
        (2**63, None, "64 bits"),
        (2**63, INT, "64 bits"),
        ("maybe", BOOL, "neither true nor false"),
        (2, BOOL, "neither true nor false"),
        ([1], None, "it returned list"),
        (np.zeros((2, 2)), None, r"shape \(2, 2\)"),
        (object(), TEXT, "it returned object"),
        ({1: 2}, None, "keys of its dictionary must be text"),
        ({"a": [1]}, None, "it returned list"),
        (3, {"a": INT}, "return a dictionary with these keys"),
    ],
)
def test_values_that_are_no_column_are_refused_with_the_fix(value: Any, declared: Any, said: str) -> None:
    with pytest.raises(Unusable, match=said):
        metadata_columns(MetadataField("m", declared), value)


def test_keys_have_types_of_their_own_and_a_missing_one_is_none() -> None:
    field = MetadataField("m", {"a": INT, "b": FLOAT})
    assert metadata_columns(field, {"a": "1", "c": "free"}) == {"m_a": 1, "m_c": "free", "m_b": None}


def test_one_type_holds_for_every_key() -> None:
    assert metadata_columns(MetadataField("m", INT), {"a": "1", "b": None}) == {"m_a": 1, "m_b": None}


@given(st.integers(-(2**63), 2**63 - 1))
def test_whole_numbers_survive_as_numbers_and_as_text(value: int) -> None:
    assert column(value) == column(value, INT) == column(str(value), INT) == value


@given(st.floats(allow_nan=False))
def test_numbers_survive_as_numbers_and_as_text(value: float) -> None:
    assert column(value) == column(value, FLOAT) == column(repr(value), FLOAT) == value
