"""What visualizers return: one frozen class for each way to show a sample. They check themselves and draw nothing.

`cutaway.dataset.rendering` makes pictures, pages and data of them. Images are [H, W, C] with 1 or 3 channels last, as
uint8 or float; `cutaway.dataset.value_range` says which floats are black and white.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from cutaway.arrays import Array
from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.visualizer_checks import (
    check_array,
    check_drawable,
    check_finite,
    check_image,
    check_indices,
    check_length,
    check_texts,
    require,
)

__all__ = [
    "VISUALIZER_CLASSES",
    "BoundingBox",
    "LeapAudio",
    "LeapGraph",
    "LeapHorizontalBar",
    "LeapImage",
    "LeapImageMask",
    "LeapImageWithBBox",
    "LeapImageWithHeatmap",
    "LeapObject",
    "LeapText",
    "LeapTextMask",
    "LeapVideo",
]


@dataclass(frozen=True, eq=False)
class LeapImage:
    """An image [H, W, C]. `compress` allows a smaller file that is not exact (JPEG) where one is kept of it."""

    data: Array
    compress: bool = True
    type: ClassVar[LeapDataType] = LeapDataType.Image

    def __post_init__(self) -> None:
        check_image("LeapImage", "data", self.data)


@dataclass(frozen=True, eq=False)
class LeapVideo:
    """Frames [T, H, W, C]; all have one range of values."""

    data: Array
    type: ClassVar[LeapDataType] = LeapDataType.Video

    def __post_init__(self) -> None:
        check_image("LeapVideo", "data", self.data, rank=4)


@dataclass(frozen=True)
class BoundingBox:
    """A box around something: its centre and size relative to the image, 0 to 1, and `rotation` in degrees clockwise.

    A predicted box may reach past the edge. `metadata` is shown beside it.
    """

    x: float
    y: float
    width: float
    height: float
    confidence: float
    label: str
    rotation: float = 0.0
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        hint = "Boxes are relative: divide pixels by the width and the height of the image."
        for name, low, high in (("x", -1, 2), ("y", -1, 2), ("width", 0, 2), ("height", 0, 2)):
            value = getattr(self, name)
            require(low <= value <= high, f"`{low} <= {name} <= {high}` must hold", f"{name}={value}", hint)
        # Softmax in float32 may exceed 1 by rounding.
        confidence, rotation = self.confidence, self.rotation
        require(-1e-6 <= confidence <= 1 + 1e-6, "`0 <= confidence <= 1` must hold", f"confidence={confidence}")
        require(math.isfinite(rotation), "`rotation` must be finite", f"rotation={rotation}")
        require(isinstance(self.label, str), "`label` of BoundingBox must be a text", f"{self.label!r}")


@dataclass(frozen=True, eq=False)
class LeapImageWithBBox:
    """An image and the boxes on it."""

    data: Array
    bounding_boxes: Sequence[BoundingBox]
    type: ClassVar[LeapDataType] = LeapDataType.ImageWithBBox

    def __post_init__(self) -> None:
        check_image("LeapImageWithBBox", "data", self.data)
        for box in self.bounding_boxes:
            require(isinstance(box, BoundingBox), "`bounding_boxes` must be BoundingBox values", f"{box!r}")


@dataclass(frozen=True, eq=False)
class LeapGraph:
    """Lines: M points of N traces, [M, N]. `x_range` is the x of the first and last point; NaN is a gap."""

    data: Array
    x_label: str | None = None
    y_label: str | None = None
    x_range: tuple[float, float] | None = None
    type: ClassVar[LeapDataType] = LeapDataType.Graph

    def __post_init__(self) -> None:
        data = check_array("LeapGraph", "data", self.data, (2,), "float")
        check_drawable("LeapGraph", "data", data)
        if self.x_range is not None:
            require(len(self.x_range) == 2, "`x_range` must be its first and last value", f"{self.x_range!r}")
            first, last = self.x_range
            require(-1e300 < first < last < 1e300, "`first < last` of `x_range` must hold", f"{first=}, {last=}")


@dataclass(frozen=True, eq=False)
class LeapText:
    """Text as its tokens, and one number a token in `heatmap` where there is one. Padding tokens are ''."""

    data: Sequence[str]
    heatmap: Array | None = None
    type: ClassVar[LeapDataType] = LeapDataType.Text

    def __post_init__(self) -> None:
        check_texts("LeapText", "data", self.data)
        if self.heatmap is not None:
            heatmap = check_array("LeapText", "heatmap", self.heatmap, (1,), "float")
            check_finite("LeapText", "heatmap", heatmap)
            check_length("LeapText", "tokens", len(self.data), "values in `heatmap`", len(heatmap))


@dataclass(frozen=True, eq=False)
class LeapHorizontalBar:
    """One bar a label, and in `gt` the true values to compare them with where there are any."""

    body: Array
    labels: Sequence[str]
    gt: Array | None = None
    type: ClassVar[LeapDataType] = LeapDataType.HorizontalBar

    def __post_init__(self) -> None:
        owner = "LeapHorizontalBar"
        check_texts(owner, "labels", self.labels)
        for name, values in (("body", self.body), ("gt", self.gt)):
            if values is not None:
                bars = check_array(owner, name, values, (1,), "float")
                check_finite(owner, name, bars)
                check_drawable(owner, name, bars)
                check_length(owner, "labels", len(self.labels), f"values in `{name}`", len(bars))


@dataclass(frozen=True, eq=False)
class LeapImageMask:
    """An image, and for each of its pixels the index of a label."""

    mask: Array
    image: Array
    labels: Sequence[str]
    type: ClassVar[LeapDataType] = LeapDataType.ImageMask

    def __post_init__(self) -> None:
        mask = check_array("LeapImageMask", "mask", self.mask, (2,), "mask")
        image = check_image("LeapImageMask", "image", self.image)
        check_texts("LeapImageMask", "labels", self.labels)
        require(
            mask.shape == image.shape[:2],
            "`mask` and `image` of LeapImageMask must have the same height and width",
            f"{mask.shape} and {image.shape[:2]}",
        )
        check_indices("LeapImageMask", "mask", mask, len(self.labels))


@dataclass(frozen=True, eq=False)
class LeapTextMask:
    """Text as its tokens, and for each token the index of a label."""

    mask: Array
    text: Sequence[str]
    labels: Sequence[str]
    type: ClassVar[LeapDataType] = LeapDataType.TextMask

    def __post_init__(self) -> None:
        mask = check_array("LeapTextMask", "mask", self.mask, (1,), "mask")
        check_texts("LeapTextMask", "text", self.text)
        check_texts("LeapTextMask", "labels", self.labels)
        check_length("LeapTextMask", "tokens", len(self.text), "values in `mask`", len(mask))
        check_indices("LeapTextMask", "mask", mask, len(self.labels))


@dataclass(frozen=True, eq=False)
class LeapImageWithHeatmap:
    """An image, and N heat maps [N, h, w] over it, one a label. A heat map may be coarser than the image."""

    image: Array
    heatmaps: Array
    labels: Sequence[str]
    type: ClassVar[LeapDataType] = LeapDataType.ImageWithHeatmap

    def __post_init__(self) -> None:
        owner = "LeapImageWithHeatmap"
        check_image(owner, "image", self.image)
        heatmaps = check_array(owner, "heatmaps", self.heatmaps, (3,), "float")
        check_finite(owner, "heatmaps", heatmaps)
        check_texts(owner, "labels", self.labels)
        check_length(owner, "labels", len(self.labels), "heat maps", len(heatmaps))


@dataclass(frozen=True, eq=False)
class LeapAudio:
    """Sound [T] or [T, channels], 1 or 2 channels, `sample_rate` values a second: int16, or float from -1 to 1."""

    data: Array
    sample_rate: int
    type: ClassVar[LeapDataType] = LeapDataType.Audio

    def __post_init__(self) -> None:
        data = check_array("LeapAudio", "data", self.data, (1, 2), "audio")
        require(
            data.ndim == 1 or data.shape[1] in (1, 2),
            "`data` of LeapAudio must be [T] or [T, channels] with 1 or 2 channels",
            f"shape {data.shape}",
        )
        check_finite("LeapAudio", "data", data)
        sample_rate = self.sample_rate
        require(sample_rate > 0, "`sample_rate > 0` must hold", f"{sample_rate=}")


LeapObject: TypeAlias = (
    LeapImage
    | LeapVideo
    | LeapImageWithBBox
    | LeapGraph
    | LeapText
    | LeapHorizontalBar
    | LeapImageMask
    | LeapTextMask
    | LeapImageWithHeatmap
    | LeapAudio
)

VISUALIZER_CLASSES: Mapping[LeapDataType, type[LeapObject]] = {
    LeapDataType.Image: LeapImage,
    LeapDataType.Video: LeapVideo,
    LeapDataType.Graph: LeapGraph,
    LeapDataType.Text: LeapText,
    LeapDataType.HorizontalBar: LeapHorizontalBar,
    LeapDataType.ImageMask: LeapImageMask,
    LeapDataType.TextMask: LeapTextMask,
    LeapDataType.ImageWithBBox: LeapImageWithBBox,
    LeapDataType.ImageWithHeatmap: LeapImageWithHeatmap,
    LeapDataType.Audio: LeapAudio,
}
