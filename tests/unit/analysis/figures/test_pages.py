"""What a page holds: nothing from elsewhere, and no text of a sample as anything but text."""

import warnings

import pytest

from cutaway.analysis.figures import map_figure
from tests.unit.analysis.figures.made import KINDS, every_figure, positions, table
from tests.unit.analysis.figures.reading_pages import HOSTILE, Page


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_well_formed_and_loads_nothing(kind: str) -> None:
    Page(every_figure()[kind].html()).loads_nothing()


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_that_mean_harm_stay_texts(text: str) -> None:
    plain = every_figure("plain")
    for kind, figure in every_figure(text).items():
        page = Page(figure.html())
        page.loads_nothing()
        # The same elements as for a harmless text: nothing was let in.
        same = [tag for tag, _ in Page(plain[kind].html()).elements]
        optional = {"h1", "b", "span", "h2"}
        assert [tag for tag, _ in page.elements if tag not in optional] == [tag for tag in same if tag not in optional]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", ["", "x" * 500, " ".join(HOSTILE[:7])])
def test_texts_that_mean_harm_are_drawn_without_a_warning(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for figure in every_figure(text).values():
            assert figure.png(width=500, height=400)


def test_the_title_and_the_caption_are_read_as_they_are_written() -> None:
    figure = map_figure(positions(), table(), title='</title> & "quoted" <b>')
    page = Page(figure.html())
    assert ("title", '</title> & "quoted" <b>') in page.texts
    assert ("h1", '</title> & "quoted" <b>') in page.texts
    assert ("figcaption", figure.caption) in page.texts


def test_no_control_character_reaches_a_page() -> None:
    for figure in every_figure("a\x00b\x1b\x7f\u202e").values():
        assert not set(figure.html()) & set("\x00\x1b\x7f\u202e")
    # Half a pair, as in the name of a file that is no UTF-8: no table holds it, but a title may.
    assert "<h1>a\ufffd</h1>" in map_figure(positions(), table(), title="a\udc80").html()


@pytest.mark.parametrize("kind", KINDS)
def test_what_can_be_pressed_has_a_name_and_pictures_have_words(kind: str) -> None:
    page = Page(every_figure()[kind].html())
    for tag, attributes in page.elements:
        if tag == "img":
            assert attributes["alt"]
        if tag == "canvas":
            assert attributes.get("aria-hidden") == "true" or attributes["aria-label"]
        if attributes.get("tabindex") is not None:
            assert attributes["role"]
    assert ("html", {"lang": "en"}) in page.elements
