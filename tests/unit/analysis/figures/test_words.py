"""Texts as figures show them."""

import doctest
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.figures import packing, painting, palettes, words
from cutaway.analysis.figures.words import clean, natural_order, short

ANY_TEXT = st.text(st.characters())


@given(ANY_TEXT)
def test_a_clean_text_can_be_written_and_stays_clean(text: str) -> None:
    shown = clean(text)
    assert len(shown) == len(text)
    assert clean(shown) == shown
    assert not [one for one in shown if unicodedata.category(one) in ("Cc", "Cs")]
    shown.encode()


@given(ANY_TEXT, st.integers(3, 50))
def test_a_short_text_keeps_both_ends(text: str, most: int) -> None:
    cut = short(text, most)
    assert len(cut) <= most
    if len(text) > most:
        assert cut[0] == clean(text)[0]
        assert cut[-1] == clean(text)[-1]


@given(st.lists(ANY_TEXT))
def test_an_order_has_every_name(names: list[str]) -> None:
    assert sorted(natural_order(names)) == sorted(names)


def test_numbers_come_in_their_own_order() -> None:
    assert natural_order(["10", "b", "-2", "9", "٣", "1" * 9999]) == ["-2", "9", "10", "1" * 9999, "b", "٣"]


@pytest.mark.parametrize("module", [words, palettes, packing, painting])
def test_the_examples_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]
