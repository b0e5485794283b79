"""Texts of anybody: escaped, cut, and what cannot be seen written out."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.report.texts import cells, html, visible, word


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\x00b", "a\\x00b"),
        ("\ud800", "\\ud800"),
        ("abc\u202ecba", "abc\\u202ecba"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("a\tb\r\nc", "a b  c"),
        ("line\u2028break", "line\\u2028break"),
        ("عربي", "عربي"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("\x1b[31m", "\\x1b[31m"),
    ],
)
def test_what_cannot_be_seen_is_written_out_and_the_rest_stays(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_cell_of_ten_megabytes_is_cut_and_says_how_long_it_is() -> None:
    assert visible("\u202e" * 10_000_000, 3) == "\\u202e\\u202e\\u202e… (10,000,000 characters)"


@given(st.text())
def test_nothing_that_a_text_holds_is_an_element(text: str) -> None:
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append(tag)
            assert [name for name, _ in attrs] == ["title"]

        def handle_comment(self, data: str) -> None:
            found.append(data)

    reader = Reader()
    reader.feed(f'<p title="{html(text)}">{html(text)}</p>')
    reader.close()
    assert found == ["p"]


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_everything_that_is_shown_can_be_written_as_a_file(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert all(one in "\u200c\u200d" or unicodedata.category(one)[0] != "C" for one in shown)


def test_values_of_a_table_become_words() -> None:
    assert [word(one) for one in (None, True, 3, 0.5, float("nan"), [1, "<b>"])] == [
        "none", "yes", "3", "0.5", "none", "[1, &#x27;&lt;b&gt;&#x27;]",
    ]  # fmt: skip


def test_texts_that_are_not_utf_8_are_shown_with_their_bytes() -> None:
    raw = pa.array([b"ok", b"\xff\xfe", None], pa.binary())
    column = pa.chunked_array([pa.Array.from_buffers(pa.string(), 3, raw.buffers())])
    assert cells(column) == ["ok", "\\xff\\xfe", None]
    assert cells(pa.chunked_array([["ok"]])) == ["ok"]
