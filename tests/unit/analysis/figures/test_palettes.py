"""Texts and points are seen on both grounds. The colours of classes are tested in tests/unit/test_class_colours.py."""

import pytest

from cutaway.analysis.figures.confusion import HIT, MISS
from cutaway.analysis.figures.palettes import DARK, LIGHT, Theme
from scripts.colour_differences import contrast


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_texts_and_points_stand_out_from_the_ground(theme: Theme) -> None:
    assert contrast(theme.ink, theme.ground) > 7
    assert contrast(theme.muted, theme.ground) > 4.5
    assert contrast(theme.ramp[-1], theme.ground) > 7
    for colour in (theme.blue, theme.orange):
        assert contrast(colour, theme.ground) > 3


def test_counts_are_read_on_the_strongest_cells() -> None:
    for colour in (HIT, MISS):
        assert contrast(LIGHT.ink, colour) > 4.5
    for colour in ("#1f64a8", "#9a5410"):  # as in page.css, for a dark ground
        assert contrast(DARK.ink, colour) > 4.5
