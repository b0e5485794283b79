"""Binds scikit-learn's digits with wrong labels planted among those of training: what `cutaway demo` looks for.

`metadata.planted` says which they are and `metadata.digit` what they are, so that anybody can check what was found.
"""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Float32Array
from cutaway.dataset import (
    DatasetMetadataType,
    DataStateType,
    LeapDataType,
    LeapImage,
    PreprocessResponse,
    leap_binder,
    tensorleap_custom_visualizer,
    tensorleap_gt_encoder,
    tensorleap_input_encoder,
    tensorleap_metadata,
    tensorleap_preprocess,
)
from cutaway.demo.planting import TRAINING_IMAGES, planted_labels

SEED = 0  # as in `cutaway.demo.labels`, whose run these samples belong to
CLASSES = [str(digit) for digit in range(10)]


@tensorleap_preprocess()
def preprocess() -> list[PreprocessResponse]:
    """The digits as the demo splits them; only labels of training are made wrong."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    right = digits.target
    shown = np.concatenate([planted_labels(right[:TRAINING_IMAGES], SEED), right[TRAINING_IMAGES:]])
    parts = {DataStateType.training: slice(0, TRAINING_IMAGES), DataStateType.validation: slice(TRAINING_IMAGES, None)}
    return [
        PreprocessResponse(
            length=len(right[part]),
            data={"images": digits.images[part], "labels": shown[part], "digits": right[part]},
            state=state,
        )
        for state, part in parts.items()
    ]


@tensorleap_input_encoder("image", channel_dim=-1)
def image(index: int, subset: PreprocessResponse) -> Float32Array:
    """The image: rows, columns, one channel, from 0 to 1."""
    return np.asarray(subset.data["images"][index][:, :, None] / 16, np.float32)


@tensorleap_gt_encoder("ground_truth")
def label(index: int, subset: PreprocessResponse) -> Float32Array:
    """The label as it was given, one-hot."""
    return np.asarray(np.eye(len(CLASSES))[subset.data["labels"][index]], np.float32)


@tensorleap_metadata("planted", DatasetMetadataType.boolean)
def planted(index: int, subset: PreprocessResponse) -> bool:
    """Whether the demo made this label wrong."""
    return bool(subset.data["labels"][index] != subset.data["digits"][index])


@tensorleap_metadata("digit", DatasetMetadataType.string)
def digit(index: int, subset: PreprocessResponse) -> str:
    """What the image shows."""
    return str(subset.data["digits"][index])


@tensorleap_metadata("ink", DatasetMetadataType.float)
def ink(index: int, subset: PreprocessResponse) -> float:
    """How much ink was used: the mean of the pixels."""
    return float(subset.data["images"][index].mean() / 16)


@tensorleap_custom_visualizer("digit", LeapDataType.Image)
def drawn(image: Float32Array) -> LeapImage:
    """The image as people see it."""
    return LeapImage((image * 255).astype(np.uint8))


leap_binder.add_prediction("prediction", CLASSES)
