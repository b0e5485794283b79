"""Arrays in shared memory: what goes in comes out, and what cannot be right is refused before it is made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cutaway.models.shared_arrays import BadArray, Mapped, new_file, read_arrays, write_arrays

ARRAYS = hnp.arrays(
    st.sampled_from(["bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex64", "<U3", ">f4"]),
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
)


@pytest.fixture
def file() -> Iterator[int]:
    fd = new_file()
    yield fd
    os.close(fd)


@given(st.dictionaries(st.text(max_size=5), ARRAYS, max_size=4))
def test_every_array_comes_out_as_it_went_in(arrays: dict[str, np.ndarray]) -> None:
    fd = new_file()
    listed = write_arrays(fd, arrays)
    mapped = Mapped(fd).arrays(listed)
    for got in (read_arrays(fd, listed, most_bytes=1 << 20), mapped):
        assert list(got) == list(arrays)
        for name, values in arrays.items():
            assert got[name].shape == values.shape
            assert got[name].dtype == values.dtype.newbyteorder("=")
            assert np.array_equal(got[name], values, equal_nan=values.dtype.kind in "fc")
    del got, mapped
    os.close(fd)


def test_what_is_not_contiguous_is_written_as_it_reads(file: int) -> None:
    values = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[::-1]
    listed = write_arrays(file, {"a": values})
    assert np.array_equal(read_arrays(file, listed, most_bytes=1000)["a"], values)


def test_arrays_begin_where_vector_instructions_like_it(file: int) -> None:
    listed = write_arrays(file, {"a": np.ones(3, np.int8), "b": np.ones(2)})
    assert [entry["at"] for entry in listed] == [0, 64]


def test_a_file_that_grew_is_mapped_anew(file: int) -> None:
    mapped = Mapped(file)
    for size in (10, 100_000, 5):
        values = np.arange(size)
        assert np.array_equal(mapped.arrays(write_arrays(file, {"a": values}))["a"], values)


def test_copies_stay_when_the_file_is_written_again(file: int) -> None:
    first = read_arrays(file, write_arrays(file, {"a": np.zeros(5)}), most_bytes=1000)["a"]
    write_arrays(file, {"a": np.ones(5)})
    assert not first.any()


def lie(**changes: Any) -> list[dict[str, Any]]:
    return [{"name": "a", "dtype": "float32", "shape": [4], "at": 0, **changes}]


@pytest.mark.parametrize(
    "listed",
    [
        None,
        "text",
        {"a": 1},
        [3],
        lie(name=3),
        lie(name="x" * 5000),
        lie() + lie(),
        lie(dtype="object"),
        lie(dtype="O"),
        lie(dtype="float32,float32"),
        lie(dtype="<U99999999"),
        lie(dtype=None),
        lie(shape=[5]),
        lie(shape=[2**61, 2**61]),
        lie(shape=[-4]),
        lie(shape=[True]),
        lie(shape=[4.0]),
        lie(shape=4),
        lie(shape=[1] * 33),
        lie(at=-16),
        lie(at=1),
        lie(at=2**63),
        lie(at=None),
    ],
)
def test_a_lie_is_refused_before_anything_is_made(file: int, listed: Any) -> None:
    write_arrays(file, {"a": np.ones(4, np.float32)})
    assert read_arrays(file, lie(), most_bytes=16)["a"].tolist() == [1, 1, 1, 1]
    with pytest.raises(BadArray):
        read_arrays(file, listed, most_bytes=1 << 40)


def test_more_than_the_limit_at_once_is_refused_also_where_arrays_overlap(file: int) -> None:
    write_arrays(file, {"a": np.ones(4, np.float32)})
    twice = [*lie(), *lie(name="b")]
    assert len(read_arrays(file, twice, most_bytes=32)) == 2
    with pytest.raises(BadArray, match="32 bytes at once, and the limit is 31"):
        read_arrays(file, twice, most_bytes=31)


def test_a_file_that_is_cut_short_after_the_check_is_an_error(file: int, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = write_arrays(file, {"a": np.ones(100)})
    size = os.fstat(file)
    os.ftruncate(file, 8)
    monkeypatch.setattr(os, "fstat", lambda _: size)
    with pytest.raises(BadArray, match="'a' ended early"):
        read_arrays(file, listed, most_bytes=1000)


def test_without_files_in_memory_one_without_a_name_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    fd = new_file()
    assert os.fstat(fd).st_nlink == 0
    assert read_arrays(fd, write_arrays(fd, {"a": np.arange(3)}), most_bytes=100)["a"].tolist() == [0, 1, 2]
    os.close(fd)
