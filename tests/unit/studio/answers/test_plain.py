"""Whatever a run holds travels as JSON."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.studio.answers.plain import plain, text

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary() | st.dates()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner))


@settings(deadline=None)
@given(value=values)
def test_anything_can_be_written_and_read_again(value: Any) -> None:
    written = json.dumps(plain(value), allow_nan=False, ensure_ascii=False).encode("utf-8")
    assert json.loads(written) == json.loads(json.dumps(plain(value)))


def test_what_is_plain_stays_as_it_is() -> None:
    held = {"a": [1, 2.5, True, None, "größe"], "b": {"c": []}}
    assert plain(held) == held


def test_what_is_not_finite_has_a_name() -> None:
    assert plain([float("nan"), float("inf"), float("-inf")]) == ["NaN", "Infinity", "-Infinity"]


def test_broken_text_and_endless_nesting_end() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert json.dumps(plain(deep)).count("[") < 100
    assert text("a\ud800b") == "a?b"
    assert len(text("x" * 10**6)) < 10**6
