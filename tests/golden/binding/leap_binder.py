"""Four kinds of digits: what the models of the golden runs were evaluated on."""

import numpy as np
from sklearn.datasets import load_digits

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

CLASSES = 4
TRAINING, VALIDATION, UNLABELED = 84, 140, 8
# So many of the first training samples are called by the next digit's name.
WRONG = 6
WIDE = 6


@tensorleap_preprocess()
def preprocess():
    digits = load_digits(n_class=CLASSES)
    order = np.random.default_rng(0).permutation(len(digits.target))[: TRAINING + VALIDATION + UNLABELED]
    order[TRAINING] = order[40]  # one picture that is in training and in validation
    ends = {
        DataStateType.training: (0, TRAINING),
        DataStateType.validation: (TRAINING, TRAINING + VALIDATION),
        DataStateType.unlabeled: (TRAINING + VALIDATION, len(order)),
    }
    found = []
    for state, (first, last) in ends.items():
        rows = order[first:last]
        shown = digits.target[rows].copy()
        if state == DataStateType.training:
            shown[:WRONG] = (shown[:WRONG] + 1) % CLASSES
        elif state == DataStateType.validation:
            # What is systematically wrong: wide digits are called by the next one's name.
            wide = (digits.images[rows] > 8).any(axis=1).sum(axis=1) >= WIDE
            shown[wide] = (shown[wide] + 1) % CLASSES
        found.append(PreprocessResponse(length=len(rows), data=(digits.images[rows], shown), state=state))
    return found


@tensorleap_input_encoder("image", channel_dim=-1)
def image(index, subset):
    return (subset.data[0][index][:, :, None] / 16).astype(np.float32)


@tensorleap_gt_encoder("digit")
def digit(index, subset):
    return np.eye(CLASSES, dtype=np.float32)[subset.data[1][index]]


@tensorleap_metadata("brightness", DatasetMetadataType.float)
def brightness(index, subset):
    return float(subset.data[0][index].mean() / 16)


@tensorleap_metadata("ink_width", DatasetMetadataType.int)
def ink_width(index, subset):
    return int((subset.data[0][index] > 8).any(axis=0).sum())


@tensorleap_custom_visualizer("large", LeapDataType.Image)
def large(image):
    return LeapImage(np.kron(image * 255, np.ones((4, 4, 1))).astype(np.uint8))


leap_binder.add_prediction("prediction", [str(number) for number in range(CLASSES)])
