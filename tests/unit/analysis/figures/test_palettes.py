"""Colours that everybody can tell apart, on both grounds."""

from itertools import combinations

import numpy as np
import pytest

from cutaway.analysis.figures.confusion import HIT, MISS
from cutaway.analysis.figures.palettes import DARK, LIGHT, MOST_COLOURS, Theme

# What is left of red, green and blue (linear) without one kind of cones: Machado and others, 2009.
VISION = {
    "all cones": np.eye(3),
    "no long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no middle": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_CONES = [[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]]
TO_LAB = [[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]]


def linear(colour: str) -> np.ndarray:
    value = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    light, dark = sorted((float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def seen(colour: str, vision: str) -> np.ndarray:
    """Return the place of a colour in OKLab for somebody with that vision."""
    rgb = np.clip(np.array(VISION[vision]) @ linear(colour), 0, 1)
    return np.array(TO_LAB) @ np.cbrt(np.array(TO_CONES) @ rgb)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_texts_and_points_stand_out_from_the_ground(theme: Theme) -> None:
    assert contrast(theme.ink, theme.ground) > 7
    assert contrast(theme.muted, theme.ground) > 4.5
    assert len(theme.classes) == MOST_COLOURS
    for colour in theme.classes:
        assert contrast(colour, theme.ground) > 2.5
    assert contrast(theme.ramp[-1], theme.ground) > 7
    for colour in (theme.blue, theme.orange):
        assert contrast(colour, theme.ground) > 3


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_no_two_classes_look_alike_to_anybody(theme: Theme, vision: str) -> None:
    nearest = min(
        float(np.linalg.norm(seen(one, vision) - seen(other, vision))) for one, other in combinations(theme.classes, 2)
    )
    # Twice what is just told apart side by side would be 0.04; colours in other orders fall far below.
    assert nearest > 0.08


def test_counts_are_read_on_the_strongest_cells() -> None:
    for colour in (HIT, MISS):
        assert contrast(LIGHT.ink, colour) > 4.5
    for colour in ("#1f64a8", "#9a5410"):  # as in page.css, for a dark ground
        assert contrast(DARK.ink, colour) > 4.5
