"""The words of the binder: kinds of inputs, ground truths, metadata, subsets, visualizers and metrics."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "SUBSETS",
    "ConfusionMatrixValue",
    "DataStateType",
    "DatasetInputType",
    "DatasetMetadataType",
    "DatasetOutputType",
    "LatentReduction",
    "LeapDataType",
    "MetricDirection",
    "Role",
]


class Role(StrEnum):
    """What an encoder makes: something that goes into the model, or something that should come out."""

    INPUT = "input"
    GROUND_TRUTH = "ground_truth"


class DataStateType(StrEnum):
    """The subsets of a data set. `unlabeled` has no ground truth, and its encoders are never called."""

    training = "training"
    validation = "validation"
    test = "test"
    unlabeled = "unlabeled"


SUBSETS = tuple(state.value for state in DataStateType)


class DatasetInputType(StrEnum):
    """What an input is, for the page that shows it."""

    Image = "image"
    Text = "text"
    Audio = "audio"
    Video = "video"
    Time_series = "time_series"
    Numeric = "numeric"


class DatasetOutputType(StrEnum):
    """What a ground truth is."""

    Classes = "classes"
    Mask = "mask"
    Numeric = "numeric"
    Text = "text"


class DatasetMetadataType(StrEnum):
    """The type of a metadata column. Numeric text becomes a number where a number is declared."""

    float = "float"
    string = "string"
    int = "int"
    boolean = "boolean"


class LeapDataType(StrEnum):
    """What a visualizer returns; each has a class of its own and one way to be drawn."""

    Image = "Image"
    Video = "Video"
    Graph = "Graph"
    Text = "Text"
    HorizontalBar = "HorizontalBar"
    ImageMask = "ImageMask"
    TextMask = "TextMask"
    ImageWithBBox = "ImageWithBBox"
    ImageWithHeatmap = "ImageWithHeatmap"
    Audio = "Audio"


class MetricDirection(StrEnum):
    """Whether a larger value of a metric is better."""

    Upward = "Upward"
    Downward = "Downward"


class ConfusionMatrixValue(StrEnum):
    """What was expected of one element of a confusion matrix."""

    Positive = "positive"
    Negative = "negative"


class LatentReduction(StrEnum):
    """How a latent space of somebody's own with many axes becomes one vector a sample."""

    MEAN_POOL = "mean_pool"
    RANDOM_PROJECTION = "random_projection"
