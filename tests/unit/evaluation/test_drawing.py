"""Which of the bound visualizers makes the small picture of each sample."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.dataset import Dataset
from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.functions import Field, Visualizer
from cutaway.evaluation.drawing import choose_drawing
from cutaway.evaluation.wiring import InputWire, Wiring

BARS = Visualizer("bars", print, ("prediction",), visualizer_type=LeapDataType.HorizontalBar)
WORDS = Visualizer("words", print, ("x",), visualizer_type=LeapDataType.Text)
MASK = Visualizer("mask", print, ("x", "prediction"), visualizer_type=LeapDataType.ImageMask)
PICTURE = Visualizer("picture", print, ("x",), visualizer_type=LeapDataType.Image)
OTHER = Visualizer("other", print, ("x",), visualizer_type=LeapDataType.Image)
UNCALLED = Visualizer("uncalled", print, ("x",), visualizer_type=LeapDataType.Image, uncalled=True)
SOURCES = {"x": "input.x", "prediction": "prediction.y"}


@pytest.mark.parametrize(
    ("bound", "chosen"),
    [
        ([BARS, PICTURE, OTHER], PICTURE),
        ([BARS, MASK, PICTURE], PICTURE),
        ([BARS, WORDS], WORDS),
        ([WORDS, MASK], MASK),
        ([BARS], BARS),
        # What the integration test never calls is given what its names suggest.
        ([UNCALLED, BARS], BARS),
        ([UNCALLED], UNCALLED),
    ],
    ids=lambda one: one.name if isinstance(one, Visualizer) else ", ".join(each.name for each in one),
)
def test_images_come_before_charts_and_the_sample_before_what_a_model_made_of_it(
    bound: list[Visualizer], chosen: Visualizer
) -> None:
    functions = {f"visualizer.{one.name}": {name: SOURCES[name] for name in one.arguments} for one in bound}
    wiring = Wiring({"x": InputWire("x")}, {"y": "y"}, {}, functions)
    drawing, why = choose_drawing(Dataset({}, (), visualizers=tuple(bound)), wiring, {}, 10)
    assert drawing is not None
    assert (drawing.bound.function, why) == (chosen, "")


def test_a_visualizer_that_is_left_out_leaves_the_picture_to_what_the_inputs_suggest() -> None:
    dataset = Dataset({}, (Field("x"),), visualizers=(UNCALLED,))
    drawing, why = choose_drawing(dataset, Wiring({"x": InputWire("x")}, {"y": "y"}, {}), {"x": np.zeros((9, 9))}, 10)
    assert drawing is not None
    assert (drawing.bound.function.name, why) == ("Image", "")
