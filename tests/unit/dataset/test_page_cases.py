"""What the page's own tests take for the data of a visualizer is what the library sends."""

import json
from pathlib import Path

import numpy as np

from cutaway.dataset import (
    BoundingBox,
    LeapAudio,
    LeapGraph,
    LeapHorizontalBar,
    LeapImage,
    LeapImageMask,
    LeapImageWithBBox,
    LeapImageWithHeatmap,
    LeapText,
    LeapTextMask,
    LeapVideo,
)
from cutaway.dataset.rendering.typed import typed_data
from cutaway.dataset.visualizer_classes import VISUALIZER_CLASSES, LeapObject

CASES = Path(__file__).parents[3] / "ui" / "src" / "visuals" / "typed.cases.json"

IMAGE = (np.arange(18, dtype=np.uint8) * 14).reshape(2, 3, 3)
LABELS = ["sky", "sea"]
OBJECTS: list[LeapObject] = [
    LeapImage(IMAGE),
    LeapVideo(np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 2, 3, 1)),
    LeapImageWithBBox(IMAGE, [BoundingBox(0.5, 0.5, 0.5, 0.25, 0.75, "sea", 30.0, {"kind": "truth"})]),
    LeapGraph(np.array([[0.0, 1.0], [np.nan, 2.0]], np.float32), "time", "volt", (0.0, 2.0)),
    LeapText(["a", "b", ""], np.array([0.5, -1.0, 0.0], np.float32)),
    LeapHorizontalBar(np.array([0.25, 0.75], np.float32), LABELS, np.array([0.0, 1.0], np.float32)),
    LeapImageMask(np.array([[0, 1, 1], [0, 0, 1]], np.uint8), IMAGE, LABELS),
    LeapTextMask(np.array([0, 1], np.uint8), ["in", "Rome"], LABELS),
    LeapImageWithHeatmap(IMAGE, np.linspace(0, 1, 8, dtype=np.float32).reshape(2, 2, 2), LABELS),
    LeapAudio(np.array([0.0, 0.5, -0.5, 0.0], np.float32), 4),
]


def test_the_page_is_tested_with_what_the_library_sends() -> None:
    # Written anew by: python -m tests.unit.dataset.test_page_cases
    assert json.loads(CASES.read_text(encoding="utf-8")) == [typed_data(one) for one in OBJECTS]


def test_every_type_is_among_them() -> None:
    assert {type(one) for one in OBJECTS} == set(VISUALIZER_CLASSES.values())


if __name__ == "__main__":
    CASES.write_text(json.dumps([typed_data(one) for one in OBJECTS], indent=1) + "\n", encoding="utf-8")
