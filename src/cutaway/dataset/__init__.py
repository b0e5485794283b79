"""Bind a data set: its subsets, encoders, metadata, metrics, losses and visualizers."""

from cutaway.dataset.dataset import Dataset
from cutaway.dataset.enums import (
    ConfusionMatrixValue,
    DatasetInputType,
    DatasetMetadataType,
    DatasetOutputType,
    DataStateType,
    LatentReduction,
    LeapDataType,
    MetricDirection,
)

__all__ = [
    "ConfusionMatrixValue",
    "DataStateType",
    "Dataset",
    "DatasetInputType",
    "DatasetMetadataType",
    "DatasetOutputType",
    "LatentReduction",
    "LeapDataType",
    "MetricDirection",
]
