"""Documents: they come back as they were, and no flipped bit or missing byte goes unseen."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError, RunDamaged, RunFormatError
from cutaway.run import checksum, documents
from cutaway.run.documents import read_document, write_document
from tests.memory_storage import MemoryStorage

# Letters, exponents and escapes that a flipped bit turns into another spelling of the same value.
SAMPLE = {"name": "mnist é", "rate": 1e-05, "crc32": None, "list": [1, 2.5, "x"], "nested": {"crc": "1:0000abcd"}}

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def _written(content: dict[Any, Any]) -> bytes:
    storage = MemoryStorage()
    write_document(storage, "a.json", content)
    return storage.read("a.json")


def _read(data: bytes) -> dict[str, Any]:
    storage = MemoryStorage()
    storage.replace("a.json", data)
    return read_document(storage, "a.json")


@given(st.dictionaries(st.text().filter(lambda key: key != "crc"), VALUES, max_size=5))
def test_a_document_reads_back_as_it_was_written(content: dict[str, Any]) -> None:
    assert _read(_written(content)) == content


def test_a_document_is_json_that_ends_with_its_checksum() -> None:
    content = json.loads(_written(SAMPLE))
    assert list(content) == [*SAMPLE, "crc"]
    assert {key: content[key] for key in SAMPLE} == SAMPLE


def test_the_order_of_keys_and_numbers_as_keys_do_no_harm() -> None:
    assert _read(_written({10: "a", 9: "b", "z": 1, "a": 2})) == {"10": "a", "9": "b", "z": 1, "a": 2}


def test_a_text_that_looks_like_the_checksum_is_a_text() -> None:
    content = {"a": '"crc": "1:00000000"\n}\n', "b": {"crc": "x"}}
    assert _read(_written(content)) == content


def test_every_flipped_bit_is_found() -> None:
    good = _written(SAMPLE)
    for bit in range(8 * len(good)):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        with pytest.raises(RunDamaged, match=r"a\.json is damaged"):
            _read(bytes(bad))


def test_every_truncation_is_found() -> None:
    good = _written(SAMPLE)
    for length in range(len(good)):
        with pytest.raises(RunDamaged, match=r"a\.json is damaged"):
            _read(good[:length])


@pytest.mark.parametrize("foreign", [b"{}", b"null", b'{"crc": 3}', b'{"crc": "1:00000000"}', b"\xff\xfe", b"[]\n"])
def test_what_we_did_not_write_is_damage_too(foreign: bytes) -> None:
    with pytest.raises(RunDamaged):
        _read(foreign)


def test_the_key_of_the_checksum_is_taken() -> None:
    with pytest.raises(ConfigurationError, match="must not hold the key 'crc'"):
        _written({"crc": 1})


def test_an_exclusive_document_is_written_once() -> None:
    storage = MemoryStorage()
    write_document(storage, "a.json", {"n": 1}, exclusive=True)
    with pytest.raises(FileExistsError):
        write_document(storage, "a.json", {"n": 2}, exclusive=True)
    assert read_document(storage, "a.json") == {"n": 1}


def test_a_missing_document_is_not_damage() -> None:
    with pytest.raises(FileNotFoundError):
        read_document(MemoryStorage(), "a.json")


def test_a_checksum_whose_library_is_missing_is_not_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _written(SAMPLE)
    monkeypatch.delitem(checksum._FUNCTIONS, checksum.CRC32C)
    with pytest.raises(RunFormatError, match="pip install"):
        _read(data)


def test_either_kind_of_checksum_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "CHECKSUM", checksum.CRC32)
    data = _written(SAMPLE)
    monkeypatch.undo()
    assert _read(data) == SAMPLE
