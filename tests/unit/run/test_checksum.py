"""Checksums: the known values, whatever holds the bytes, and a clear word where one is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import RunFormatError
from cutaway.run import checksum as module
from cutaway.run.checksum import CHECKSUM, CRC32, CRC32C, checksum, checksum_function, checksums, checksums_of_rows

KINDS = [CRC32, CRC32C]


@pytest.mark.parametrize(("kind", "value"), [(CRC32, 0xCBF43926), (CRC32C, 0xE3069283)])
def test_the_check_value_of_each_kind_is_the_published_one(kind: int, value: int) -> None:
    assert checksum_function(kind)(b"123456789") == value


@pytest.mark.parametrize("kind", KINDS)
@given(st.binary(max_size=300), st.integers(0, 300))
def test_a_checksum_can_be_continued(kind: int, data: bytes, cut: int) -> None:
    crc = checksum_function(kind)
    assert crc(data[cut:], crc(data[:cut])) == crc(data)


@pytest.mark.parametrize("kind", KINDS)
def test_it_does_not_matter_what_holds_the_bytes(kind: int) -> None:
    crc, data = checksum_function(kind), bytes(range(64))
    others = [bytearray(data), memoryview(data), np.frombuffer(data, np.uint8), memoryview(np.frombuffer(data, "f4"))]
    assert {crc(other) for other in others} == {crc(data)}
    assert crc(memoryview(b"")) == crc(b"") == 0


def test_the_faster_kind_is_used_where_it_is_installed() -> None:
    assert CHECKSUM == CRC32C
    assert checksum(b"x") == checksum_function(CRC32C)(b"x")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(module._FUNCTIONS, CRC32C)
    with pytest.raises(RunFormatError, match="pip install google-crc32c"):
        checksum_function(CRC32C)


def test_an_unknown_kind_is_from_a_newer_release() -> None:
    with pytest.raises(RunFormatError, match=r"unknown checksum kind 7; .* newer release"):
        checksum_function(7)


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(1, 40), st.data())
def test_the_checksums_of_many_pieces_are_those_of_each(kind: int, width: int, data: st.DataObject) -> None:
    pieces = data.draw(st.lists(st.binary(min_size=width, max_size=width), max_size=9))
    whole = np.frombuffer(b"".join(pieces), np.uint8)
    expected = [checksum_function(kind)(piece) for piece in pieces]
    starts = range(0, len(whole), width)
    assert checksums(whole, starts, [start + width for start in starts], kind).tolist() == expected
    assert checksums_of_rows(whole.reshape(-1, width), kind).tolist() == expected
