"""Figures of pictures: distances, similar samples, units, heat maps."""

import base64

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.figures import (
    Tile,
    distances_figure,
    heat_map_figure,
    ranked_figure,
    similar_figure,
    units_figure,
)
from cutaway.analysis.figures.pictures import pixels_of, png_of
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from tests.unit.analysis.figures.made import png, ranked, table
from tests.unit.analysis.figures.reading_pages import Page


def pictures(page: Page) -> list[bytes]:
    sources = [one["src"] or "" for tag, one in page.elements if tag == "img"]
    return [base64.b64decode(one.removeprefix("data:image/png;base64,")) for one in sources]


def test_distances_come_nearest_first_with_label_and_prediction_marked() -> None:
    figure = distances_figure(np.array([3.0, 1.0, 2.0]), list("abc"), label="c", prediction="b", preview=png())
    page = Page(figure.html())
    assert [text for tag, text in page.texts if tag == "th"] == ["class", "distance", "b", "c", "a"]
    assert [text for tag, text in page.texts if tag == "td"] == ["1", "prediction", "2", "label", "3"]
    assert pictures(page) == [png()]
    assert "The nearest is b, at 1. Its label is c, and the model says b." in figure.caption


def test_of_many_classes_the_nearest_and_the_marked_are_shown() -> None:
    names = [f"c{one}" for one in range(10_000)]
    figure = distances_figure(np.arange(10_000.0), names, label="c9999", prediction="c0")
    shown = [text for tag, text in Page(figure.html()).texts if tag == "th"][2:]
    assert len(shown) == 20
    assert (shown[0], shown[-1]) == ("c0", "c9999")
    assert "20 of 10,000 classes are shown." in figure.caption
    assert figure.png()


def test_a_class_without_a_distance_is_left_out() -> None:
    figure = distances_figure(np.array([np.nan, 0.0]), ["a", "b"])
    assert "a" not in [text for tag, text in Page(figure.html()).texts if tag == "th"]
    assert figure.png()
    with pytest.raises(AnalysisUnavailable, match="none of the distances is finite"):
        distances_figure(np.array([np.nan, np.inf]), ["a", "b"])
    with pytest.raises(ConfigurationError, match="one number for each of 2 classes, but got 3"):
        distances_figure(np.zeros(3), ["a", "b"])


def test_similar_samples_come_in_order_with_what_is_known_of_them() -> None:
    found = table().slice(1, 4).append_column("distance", pa.array([0.5, 1.0, 1.5, 2.0]))
    previews = {f"s{row}": png(row) for row in range(4)}
    figure = similar_figure(table().slice(0, 1), found, previews)
    page = Page(figure.html())
    assert [text for tag, text in page.texts if tag == "b"] == ["s0", "s1", "s2", "s3", "s4"]
    assert pictures(page) == [png(row) for row in range(4)]
    assert "no picture" in page.shown
    assert "distance 0.5" in page.shown
    assert "4 samples most similar to 1 sample." in figure.caption
    assert figure.png()


def test_similar_samples_without_labels_or_any_at_all_are_drawn() -> None:
    query, none = pa.table({"sample": ["a"]}), pa.table({"sample": pa.array([], pa.string())})
    figure = similar_figure(query, none, {})
    assert figure.caption == "0 samples most similar to 1 sample."
    assert figure.png()
    with pytest.raises(ConfigurationError, match="`similar` must have a column 'sample'"):
        similar_figure(query, pa.table({"a": [1]}), {})


def test_ranked_samples_come_with_their_scores_the_highest_first() -> None:
    figure = ranked_figure(ranked("s"), {"s0": png(0)}, words="three are wrong")
    page = Page(figure.html())
    assert [text for tag, text in page.texts if tag == "b"] == ["s0", "s1", "s2"]
    assert pictures(page) == [png(0)]
    assert "score 0.90" in page.shown
    assert "three are wrong" in figure.caption.lower()
    assert figure.png()


def test_a_sample_and_the_other_that_it_doubles_stand_side_by_side() -> None:
    figure = ranked_figure(ranked("s").append_column("other", pa.array(["t0", "t1", "t2"])), {})
    assert [text for tag, text in Page(figure.html()).texts if tag == "b"] == ["s0", "t0", "s1", "t1", "s2", "t2"]


def test_nothing_that_is_ranked_is_no_figure() -> None:
    with pytest.raises(AnalysisUnavailable, match="nothing was found"):
        ranked_figure(ranked("s").slice(0, 0), {})
    with pytest.raises(ConfigurationError, match="begins with sample, score, reason"):
        ranked_figure(pa.table({"a": [1]}), {})


def test_a_unit_shows_its_drivers_and_the_classes_that_it_answers_to() -> None:
    drivers = pa.table(
        {"unit": [4, 4, 9], "sample": ["a", "b", "c"], "value": [3.0, 2.0, 1.0], "label": ["x", None, "y"]}
    )
    classes = pa.table({"unit": [4, 4], "class": ["x", "y"], "auc": [0.97, 0.6], "serves": [True, False]})
    figure = units_figure(drivers, {"a": png()}, classes=classes, top=1)
    page = Page(figure.html())
    assert [text for tag, text in page.texts if tag == "h2"] == ["Unit 4", "Unit 9"]
    assert "serves x (AUC 0.97), answers to y (AUC 0.60)" in page.shown
    assert [text for tag, text in page.texts if tag == "b"] == ["a", "c"]
    assert figure.png()


def test_of_very_many_units_the_first_are_shown() -> None:
    drivers = pa.table({"unit": list(range(500)), "sample": ["a"] * 500, "value": [1.0] * 500})
    assert "40 of 500 units are shown." in units_figure(drivers, {}).caption
    with pytest.raises(AnalysisUnavailable, match="no unit"):
        units_figure(drivers.slice(0, 0), {})
    with pytest.raises(ConfigurationError, match="lacks the columns value"):
        units_figure(drivers.drop(["value"]), {})


def test_heat_maps_stand_beside_their_sample_with_what_is_said_of_them() -> None:
    doubtful = Tile(np.zeros((4, 4)), "Grad-CAM", ("no better than random",), "wrong")
    good = Tile(np.ones((4, 4, 3), np.uint8), "occlusion")
    figure = heat_map_figure(Tile(png(), "s1"), [doubtful, good])
    page = Page(figure.html())
    assert [text for tag, text in page.texts if tag == "b"] == ["s1", "Grad-CAM", "occlusion"]
    assert figure.caption == "2 heat maps of 1 sample. A dashed frame: no better than a random map."
    assert figure.png()


@pytest.mark.parametrize("cut", [b"", b"GIF89a", png()[:40]])
def test_what_is_no_picture_is_said_to_be_none(cut: bytes) -> None:
    assert pixels_of(cut) is None
    assert png_of(cut) is None
    figure = heat_map_figure(Tile(cut, "a"), [])
    assert "no picture" in Page(figure.html()).shown
    assert figure.png()


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([[0.0, 1.0]]), [[0, 255]]),
        (np.array([[0.0, 0.5]]), [[0, 128]]),
        (np.array([[-2.0, 2.0]]), [[0, 255]]),
        (np.array([[np.nan, 7.0]]), [[0, 255]]),
        (np.array([[[3], [9]]], np.uint8), [[3, 9]]),
        (np.array([[False, True]]), [[0, 255]]),
    ],
)
def test_arrays_of_any_range_become_pixels(array: np.ndarray, expected: list) -> None:
    assert np.asarray(pixels_of(array)).tolist() == expected
    assert np.asarray(pixels_of(png_of(array) or b"")).tolist() == expected


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2, 2)), np.zeros((0, 4)), np.array([["a"]])])
def test_an_array_that_is_no_picture_is_refused(array: np.ndarray) -> None:
    with pytest.raises(ConfigurationError, match="picture"):
        pixels_of(array)


def test_pictures_of_texts_and_series_get_the_breadth_that_they_need() -> None:
    broad = Tile(np.zeros((60, 600, 3), np.uint8), "words")
    figure = heat_map_figure(Tile(None, "a"), [broad, broad])
    assert 'class="tile broad large"' in figure.html()
    assert figure.height < 500
    assert figure.png()
