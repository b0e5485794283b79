"""Real vectors for the tests of maps: the digits that scikit-learn carries."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Digits = tuple[npt.NDArray[np.float32], npt.NDArray[Any]]


@pytest.fixture(scope="session")
def digits() -> Digits:
    datasets = pytest.importorskip("sklearn.datasets")
    pytest.importorskip("torch")
    images, labels = datasets.load_digits(return_X_y=True)
    return images.astype(np.float32), labels
