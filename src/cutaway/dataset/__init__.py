"""Bind a data set: its subsets, encoders, metadata, metrics, losses and visualizers."""

from typing import TYPE_CHECKING

from cutaway.dataset.binder import Binder
from cutaway.dataset.current import current_binder
from cutaway.dataset.dataset import Dataset
from cutaway.dataset.decorators import (
    tensorleap_custom_latent_space,
    tensorleap_custom_layer,
    tensorleap_custom_loss,
    tensorleap_custom_metric,
    tensorleap_custom_visualizer,
    tensorleap_gt_encoder,
    tensorleap_input_encoder,
    tensorleap_integration_test,
    tensorleap_load_model,
    tensorleap_metadata,
    tensorleap_preprocess,
    tensorleap_unlabeled_preprocess,
)
from cutaway.dataset.default_visualizers import guess_visualizer
from cutaway.dataset.entry import Entry, load_entry
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
from cutaway.dataset.losses import default_losses
from cutaway.dataset.metrics import default_metrics
from cutaway.dataset.overlay_labels import corrected, sample_weights
from cutaway.dataset.rendering import preview_png, render_html, render_png, typed_data, visualize
from cutaway.dataset.responses import (
    ConfusionMatrixElement,
    PredictionTypeHandler,
    PreprocessResponse,
    SamplePreprocessResponse,
    SubsetResponse,
)
from cutaway.dataset.visualizer_classes import (
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

if TYPE_CHECKING:
    leap: Binder
    leap_binder: Binder

__all__ = [
    "Binder",
    "BoundingBox",
    "ConfusionMatrixElement",
    "ConfusionMatrixValue",
    "DataStateType",
    "Dataset",
    "DatasetInputType",
    "DatasetMetadataType",
    "DatasetOutputType",
    "Entry",
    "LatentReduction",
    "LeapAudio",
    "LeapDataType",
    "LeapGraph",
    "LeapHorizontalBar",
    "LeapImage",
    "LeapImageMask",
    "LeapImageWithBBox",
    "LeapImageWithHeatmap",
    "LeapText",
    "LeapTextMask",
    "LeapVideo",
    "MetricDirection",
    "PredictionTypeHandler",
    "PreprocessResponse",
    "SamplePreprocessResponse",
    "SubsetResponse",
    "corrected",
    "default_losses",
    "default_metrics",
    "guess_visualizer",
    "leap",
    "leap_binder",
    "load_entry",
    "preview_png",
    "render_html",
    "render_png",
    "sample_weights",
    "tensorleap_custom_latent_space",
    "tensorleap_custom_layer",
    "tensorleap_custom_loss",
    "tensorleap_custom_metric",
    "tensorleap_custom_visualizer",
    "tensorleap_gt_encoder",
    "tensorleap_input_encoder",
    "tensorleap_integration_test",
    "tensorleap_load_model",
    "tensorleap_metadata",
    "tensorleap_preprocess",
    "tensorleap_unlabeled_preprocess",
    "typed_data",
    "visualize",
]


def __getattr__(name: str) -> Binder:
    """Return the binder that `leap` and `leap_binder` mean here: the entry's own while an entry file is executed."""
    if name in ("leap", "leap_binder"):
        return current_binder()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
