"""A run in a few numbers: the parts that the command and the studio share."""

from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.run.documents import read_yaml, write_yaml
from cutaway.trial.series_totals import in_order
from cutaway.trial.summary import DEEPEST, flat_items, flatten

PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text("ab", max_size=3))
NESTED = st.dictionaries(
    st.text("xyz", min_size=1, max_size=2),
    st.recursive(
        PLAIN, lambda inner: st.dictionaries(st.text("xyz", min_size=1, max_size=2), inner, min_size=1), max_leaves=12
    ),
)


@given(nested=NESTED)
def test_flat_settings_lead_to_every_value(nested: dict[str, Any]) -> None:
    for key, value in flatten(nested).items():
        found: Any = nested
        for part in key.split("."):
            found = found[part]
        assert found == value
        assert not isinstance(found, dict) or not found


def test_settings_that_are_nested_endlessly_end() -> None:
    deep: dict[str, Any] = {}
    deep["again"] = deep
    ((key, value),) = flat_items(deep)
    assert key.count(".") == DEEPEST
    assert value is deep
    wide: dict[str, Any] = {"x": 1}
    for _ in range(DEEPEST):
        wide = {str(i): wide for i in range(10)}
    assert len(list(islice(flat_items(wide), 50))) == 50


def test_losses_come_first_and_of_one_name_the_training() -> None:
    asked = [("accuracy", "EVAL"), ("val_loss", "EVAL"), ("loss", "EVAL"), ("loss", "TRAIN"), ("accuracy", "OTHER")]
    assert in_order(asked) == [
        ("loss", "TRAIN"),
        ("loss", "EVAL"),
        ("val_loss", "EVAL"),
        ("accuracy", "EVAL"),
        ("accuracy", "OTHER"),
    ]


@given(nested=NESTED)
def test_settings_are_read_as_they_were_written(nested: dict[str, Any]) -> None:
    assert read_yaml(write_yaml(nested)) == nested


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "a: " + "{b: " * 5000, "a: &a [*a]", "- 1", "a: [1", "!!python/name:os.system {}"]
)
def test_settings_that_are_no_plain_dictionary_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_yaml(text.encode())


def test_shared_settings_are_read_and_endless_ones_refused() -> None:
    assert read_yaml(b"a: &x [1, 2]\nb: *x") == {"a": [1, 2], "b": [1, 2]}
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(ValueError, match="aliases"):
        read_yaml("\n".join(lines).encode())
