"""Binds scikit-learn's handwritten digits: 1,797 images of 8 x 8 pixels, and which digit each one shows.

Every function gets the number of a sample and the subset that it belongs to. `cutaway check` calls each of them on
samples of every subset and says what is wrong; `cutaway evaluate` calls them on all samples.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from cutaway.dataset import (
    DatasetMetadataType,
    DataStateType,
    LeapDataType,
    LeapImage,
    MetricDirection,
    PreprocessResponse,
    leap_binder,
    tensorleap_custom_loss,
    tensorleap_custom_metric,
    tensorleap_custom_visualizer,
    tensorleap_gt_encoder,
    tensorleap_input_encoder,
    tensorleap_metadata,
    tensorleap_preprocess,
)

LABELS = [str(digit) for digit in range(10)]
PARTS = {DataStateType.training: (0, 1078), DataStateType.validation: (1078, 1437), DataStateType.test: (1437, 1797)}


@tensorleap_preprocess()
def preprocess() -> list[PreprocessResponse]:
    """Load everything once and split it; the seed makes the split the same each time."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    start, stop = PARTS[DataStateType.training]
    leap_binder.cache_container["class_means"] = class_means(digits, order[start:stop])
    responses = []
    for state, (start, stop) in PARTS.items():
        rows = order[start:stop]
        data = {"images": digits.images[rows], "digits": digits.target[rows]}
        responses.append(PreprocessResponse(length=len(rows), data=data, state=state))
    return responses


def class_means(digits: Bunch, rows: np.ndarray) -> dict[int, np.ndarray]:
    """Return the mean image of each digit, of these rows alone: training must not know the other subsets."""
    images, numbers = digits.images[rows], digits.target[rows]
    return {int(number): images[numbers == number].mean(axis=0) for number in np.unique(numbers)}


@tensorleap_input_encoder("image", channel_dim=-1)
def image(index: int, subset: PreprocessResponse) -> np.ndarray:
    """The image as the model gets it: rows, columns, one channel, from 0 to 1."""
    return (subset.data["images"][index][:, :, None] / 16).astype(np.float32)


@tensorleap_gt_encoder("digit")
def digit(index: int, subset: PreprocessResponse) -> np.ndarray:
    """The right answer, one-hot."""
    return np.eye(len(LABELS), dtype=np.float32)[subset.data["digits"][index]]


@tensorleap_metadata("digit", DatasetMetadataType.int)
def digit_number(index: int, subset: PreprocessResponse) -> int:
    """The digit as a number."""
    return int(subset.data["digits"][index])


@tensorleap_metadata("brightness", DatasetMetadataType.float)
def brightness(index: int, subset: PreprocessResponse) -> float:
    """The mean of all pixels, from 0 to 1."""
    return float(subset.data["images"][index].mean() / 16)


@tensorleap_metadata("ink", {"pixels": DatasetMetadataType.int, "width": DatasetMetadataType.int})
def ink(index: int, subset: PreprocessResponse) -> dict[str, int]:
    """How many pixels are more than half full, and how many columns have one: `ink_pixels` and `ink_width`."""
    full = subset.data["images"][index] > 8
    return {"pixels": int(full.sum()), "width": int(full.any(axis=0).sum())}


@tensorleap_metadata("distance_to_class_mean", DatasetMetadataType.float)
def distance_to_class_mean(index: int, subset: PreprocessResponse) -> float | None:
    """How far the image lies from the mean training image of its digit: Euclidean, pixels from 0 to 1."""
    mean = leap_binder.cache_container["class_means"].get(int(subset.data["digits"][index]))
    return None if mean is None else float(np.linalg.norm(subset.data["images"][index] - mean) / 16)


@tensorleap_custom_metric("margin", direction=MetricDirection.Upward)
def margin(digit: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """How far the right digit is ahead of the best of the others: below 0 the answer is wrong."""
    right = (digit * prediction).sum(axis=1)
    best_other = (prediction - 2 * digit).max(axis=1)
    return (right - best_other).astype(np.float32)


@tensorleap_custom_loss("smoothed_crossentropy")
def smoothed_crossentropy(digit: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Cross-entropy against labels that are a little unsure of themselves."""
    smoothed = 0.9 * digit + 0.1 / digit.shape[1]
    return -(smoothed * np.log(np.clip(prediction, 1e-7, 1))).sum(axis=1)


@tensorleap_custom_visualizer("large", LeapDataType.Image)
def large(image: np.ndarray) -> LeapImage:
    """The image eight times as large, so that people see its pixels."""
    return LeapImage(np.kron(image * 255, np.ones((8, 8, 1))).astype(np.uint8))


leap_binder.add_prediction("prediction", LABELS)
