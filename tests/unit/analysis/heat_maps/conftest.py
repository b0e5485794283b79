"""A network that reads digits, and digits that it has not seen and reads correctly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cutaway.models import Model, load

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    data = load_digits()
    return (data.images / 16).astype(np.float32)[:, None], data.target.astype(np.int64)


@pytest.fixture(scope="module")
def model(digits: tuple[np.ndarray, np.ndarray]) -> Iterator[Model]:
    """A small network that reads digits, with logits as its output. Several threads would wait for each other on it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    images, labels = (torch.from_numpy(one[:1200]) for one in digits)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 10)
    )
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    for _ in range(12):
        for rows in torch.randperm(1200).split(50):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(images[rows]), labels[rows]).backward()
            optimizer.step()
    yield load(network, example=digits[0][:2])
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def read(model: Model, digits: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Samples that the model has not seen and reads correctly."""
    images, labels = digits[0][1200:], digits[1][1200:]
    right = model.predict(images)["output"].argmax(axis=1) == labels
    assert right.mean() > 0.9
    return images[right], labels[right]
