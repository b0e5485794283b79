"""Arrays in shared memory: what goes in comes out, and what cannot be right is refused before it is made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cutaway.models.shared_arrays import BadArray, SharedFile

ARRAYS = hnp.arrays(
    st.sampled_from(["bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex64", "<U3", ">f4"]),
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
)


@pytest.fixture(params=["memory", "disk"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SharedFile]:
    """A file in memory that never shrinks, and one on a disk, as other systems have it."""
    fd = None if request.param == "memory" else os.open(tmp_path / "shared", os.O_RDWR | os.O_CREAT)
    file = SharedFile(fd)
    yield file
    file.close()


@given(st.dictionaries(st.text(max_size=5), ARRAYS, max_size=4))
def test_every_array_comes_out_as_it_went_in(arrays: dict[str, np.ndarray]) -> None:
    file = SharedFile()
    listed = file.write(arrays)
    views = SharedFile(os.dup(file.fd)).views(listed)
    for got in (file.copies(listed, most_bytes=1 << 20), views):
        assert list(got) == list(arrays)
        for name, values in arrays.items():
            assert got[name].shape == values.shape
            assert got[name].dtype == values.dtype.newbyteorder("=")
            assert np.array_equal(got[name], values, equal_nan=values.dtype.kind in "fc")
    file.close()


def test_what_is_not_contiguous_is_written_as_it_reads(file: SharedFile) -> None:
    values = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[::-1]
    listed = file.write({"a": values})
    assert np.array_equal(file.copies(listed, most_bytes=1000)["a"], values)


def test_arrays_begin_where_vector_instructions_like_it(file: SharedFile) -> None:
    listed = file.write({"a": np.ones(3, np.int8), "b": np.ones(2)})
    assert [entry["at"] for entry in listed] == [0, 64]


def test_a_file_that_grew_is_mapped_anew(file: SharedFile) -> None:
    reader = SharedFile(os.dup(file.fd))
    for size in (10, 100_000, 5):
        values = np.arange(size)
        assert np.array_equal(reader.views(file.write({"a": values}))["a"], values)


def test_copies_stay_when_the_file_is_written_again(file: SharedFile) -> None:
    first = file.copies(file.write({"a": np.zeros(5)}), most_bytes=1000)["a"]
    file.write({"a": np.ones(5)})
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
def test_a_lie_is_refused_before_anything_is_made(file: SharedFile, listed: Any) -> None:
    file.write({"a": np.ones(4, np.float32)})
    assert file.copies(lie(), most_bytes=16)["a"].tolist() == [1, 1, 1, 1]
    with pytest.raises(BadArray):
        file.copies(listed, most_bytes=1 << 40)


def test_more_than_the_limit_at_once_is_refused_also_where_arrays_overlap(file: SharedFile) -> None:
    file.write({"a": np.ones(4, np.float32)})
    twice = [*lie(), *lie(name="b")]
    assert len(file.copies(twice, most_bytes=32)) == 2
    with pytest.raises(BadArray, match="32 bytes at once, and the limit is 31"):
        file.copies(twice, most_bytes=31)


def test_a_file_that_could_be_cut_short_is_an_error_and_one_in_memory_cannot_be(
    file: SharedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = file.write({"a": np.ones(1000)})
    try:
        os.ftruncate(file.fd, 8)
    except PermissionError:
        assert file.copies(listed, most_bytes=10_000)["a"].all()
        return
    monkeypatch.setattr(file, "_size", lambda: 8000)
    with pytest.raises(BadArray, match="'a' ended early"):
        file.copies(listed, most_bytes=10_000)


def test_systems_without_files_in_memory_have_one_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutaway.models.shared_arrays._HAS_SEALS", False)
    file = SharedFile()
    assert os.fstat(file.fd).st_nlink == 0
    assert file.copies(file.write({"a": np.arange(3)}), most_bytes=100)["a"].tolist() == [0, 1, 2]
    file.close()
