"""An approximate index as arrays: it comes back as it was, and what is not one is refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.analysis.neighbours import Index, build_index, index, index_from_parts
from cutaway.errors import ConfigurationError

Array = npt.NDArray[Any]
Parts = dict[str, Array]


def made() -> Array:
    vectors = np.random.default_rng(0).standard_normal((2_000, 6)).astype(np.float32)
    vectors[3] = np.inf
    return vectors


VECTORS = made()


@cache
def fresh() -> Index:
    return build_index(VECTORS, exact=False)


@pytest.fixture
def built() -> Index:
    return fresh()


def test_an_index_from_its_parts_gives_the_same_answers(built: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "FEW_LEFT", 0)
    stored = io.BytesIO()
    np.savez(stored, **built.parts())
    stored.seek(0)
    again = index_from_parts(VECTORS, dict(np.load(stored, allow_pickle=False)))
    queries = np.random.default_rng(1).standard_normal((60, 6))
    before, after = built.search(queries, 12), again.search(queries, 12)
    assert np.array_equal(before.indices, after.indices)
    assert np.array_equal(before.distances, after.distances)
    assert (again.recall, again.notes, again.exact) == (built.recall, built.notes, False)


def _set(name: str, place: Any, value: Any) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        parts[name] = parts[name].copy()
        parts[name][place] = value

    return change


def _give(name: str, make: Callable[[Array], Array]) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        parts[name] = make(parts[name])

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda parts: parts.pop("codes"), "'codes' is missing"),
        (_give("codes", lambda one: one[:-1]), "'codes' is uint8 of shape"),
        (_give("codes", lambda one: one.astype(np.int64)), "'codes' is int64"),
        (_give("codes", lambda one: one ^ 255), "lie elsewhere"),
        (_set("lists", 0, 10**6), "lists that are none of its"),
        (_set("lists", 0, -1), "lists that are none of its"),
        (_set("lists", 3, 0), "rows that are not finite"),
        (_set("centroids", (0, 0), np.nan), "'centroids' is not finite"),
        (_give("centroids", lambda one: one[:0]), "0 lists"),
        (_give("centroids", lambda one: one[::-1]), "lie elsewhere"),
        (_give("centroids", lambda one: np.resize(one, (5_000, 6))), "5000 lists for 1999 rows"),
        (_give("codebooks", lambda one: one[:, :8]), "'codebooks' is float32 of shape"),
        (_set("codebooks", (0, 0), np.inf), "'codebooks' is not finite"),
        (_set("settings", 0, 2), "version is 2"),
        (_set("settings", 1, 0), "looks through 0"),
        (_set("settings", 1, 10**9), "looks through 1000000000"),
        (_set("settings", 2, 10**9), "1000000000 candidates"),
        (_set("recall", 0, 1.5), "recall is 1.5"),
        (_set("recall", 0, np.nan), "'recall' is not finite"),
        (_give("recall", lambda one: np.array(["0.99"], object)), "'recall' is object"),
    ],
)
def test_damaged_parts_are_refused_with_the_reason(built: Index, change: Callable[[Parts], None], reason: str) -> None:
    parts = built.parts()
    change(parts)
    with pytest.raises(ConfigurationError, match=reason) as raised:
        index_from_parts(VECTORS, parts)
    assert "Build it again." in str(raised.value)


def test_parts_of_other_vectors_are_refused(built: Index) -> None:
    other = np.random.default_rng(7).standard_normal(VECTORS.shape).astype(np.float32)
    other[3] = np.nan
    with pytest.raises(ConfigurationError, match="lie elsewhere"):
        index_from_parts(other, built.parts())
    with pytest.raises(ConfigurationError, match="is needed"):
        index_from_parts(VECTORS[:-1], built.parts())


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_whatever_bytes_parts_hold_they_are_refused_or_answer(data: st.DataObject) -> None:
    parts = fresh().parts()
    name = data.draw(st.sampled_from(sorted(parts)))
    broken = bytearray(parts[name].tobytes())
    for _ in range(data.draw(st.integers(1, 20))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    parts[name] = np.frombuffer(bytes(broken), parts[name].dtype).reshape(parts[name].shape)
    try:
        again = index_from_parts(VECTORS, parts)
    except ConfigurationError:
        return
    found = again.search(VECTORS[10:40], 5)
    assert ((found.indices >= 0) & (found.indices < len(VECTORS))).all()
    assert np.isfinite(found.distances).all()
