"""The ten colours of classes: apart to everybody, seen on every ground, and the same on the page."""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from cutaway.analysis.figures.palettes import DARK, LIGHT
from cutaway.class_colours import CLASS_COLOURS, MARKED_CLASSES, class_colour, is_triangle
from cutaway.dataset.rendering.canvas import colour_of
from scripts.colour_differences import PETROFF, VISIONS, appearance, contrast, least_distances, linear, rgb_of, ucs

UI = Path(__file__).parents[2] / "ui" / "src"
TEN = np.array([rgb_of(one) for one in CLASS_COLOURS])
THEIRS = np.array([rgb_of(one) for one in PETROFF])


def grounds() -> dict[str, str]:
    """Where marks of classes lie: the panels of the page's themes, and figures and reports."""
    style = (UI / "app.css").read_text(encoding="utf-8")
    light, dark = re.findall(r"--panel: (#[0-9a-f]{6})", style)
    return {"page, light": light, "page, dark": dark, "figure, light": LIGHT.ground, "figure, dark": DARK.ground}


# The worked examples of CIECAM02 (Fairchild, Color Appearance Models): colour, light, lightness, colourfulness and hue.
EXAMPLES = [
    ((19.01, 20.00, 21.78), 318.31, (41.73, 0.11, 219.0)),
    ((57.06, 43.06, 31.96), 31.83, (65.96, 41.67, 19.6)),
]


@pytest.mark.parametrize(("xyz", "adapting", "expected"), EXAMPLES)
def test_the_model_of_colours_gives_its_published_examples(xyz: tuple, adapting: float, expected: tuple) -> None:
    found = appearance(xyz, (95.05, 100.0, 108.88), adapting)
    assert [float(one) for one in found] == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("vision", VISIONS)
def test_no_two_classes_are_nearer_than_the_nearest_of_petroffs_ten(vision: str) -> None:
    # His are 18.70 apart to everybody, 14.91 and 14.54 to those who lack a kind of cones.
    assert least_distances(TEN)[vision] >= least_distances(THEIRS)[vision]


@pytest.mark.parametrize(("colour", "ground"), [*product(CLASS_COLOURS, grounds())])
def test_a_class_stands_out_from_every_ground_of_either_theme(colour: str, ground: str) -> None:
    assert contrast(colour, grounds()[ground]) >= 3


def test_the_colours_of_classes_are_vivid() -> None:
    chroma = np.hypot(*ucs(linear(TEN))[:, 1:].T)
    # Petroff's two greys have 7 and 8, half of his have less than 20.
    assert chroma.min() >= 20


def test_the_page_has_the_same_colours() -> None:
    source = (UI / "lib" / "class_colours.ts").read_text(encoding="utf-8")
    found = re.search(r"CLASS_COLOURS = (\[.*?\]) as const", source, re.DOTALL)
    assert found is not None
    assert tuple(json.loads(found[1])) == CLASS_COLOURS


def test_pictures_of_samples_have_the_same_colours() -> None:
    assert ["#{:02x}{:02x}{:02x}".format(*colour_of(place)) for place in range(10)] == list(CLASS_COLOURS)


def test_classes_11_to_20_have_the_same_colours_with_a_second_mark() -> None:
    marks = [(class_colour(place), is_triangle(place)) for place in range(MARKED_CLASSES)]
    assert len(set(marks)) == MARKED_CLASSES == 20
    assert [colour for colour, _ in marks[10:]] == [colour for colour, _ in marks[:10]]
    assert (class_colour(20), is_triangle(20)) == marks[0]
