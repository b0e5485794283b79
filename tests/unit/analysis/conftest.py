"""Runs with an evaluation, for tests of what is asked about them."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate

ROWS = {"training": (0, 300), "validation": (300, 420)}


def digits(channels: bool = True) -> Dataset:
    """Images of digits in two subsets, with two facts about each."""
    data = load_digits()
    images = (data.images[..., None] / 16).astype(np.float32)
    parts = []
    for name, (start, stop) in ROWS.items():
        rows = slice(start, stop)
        metadata = {
            "brightness": images[rows].mean(axis=(1, 2, 3)).tolist(),
            "odd": (data.target[rows] % 2 == 1).tolist(),
        }
        inputs = images[rows] if channels else images[rows].reshape(-1, 64)
        labels = [str(one) for one in range(10)]
        parts.append(Dataset.from_arrays(inputs, data.target[rows], metadata=metadata, labels=labels, subset=name))
    return Dataset.join(*parts)


def network(seed: int = 0, epochs: int = 12) -> object:
    """A small convolutional network that reads most digits."""
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
            torch.nn.Linear(128, 16), torch.nn.ReLU(), torch.nn.Linear(16, 10),
        )  # fmt: skip
    data = load_digits()
    x = torch.tensor(data.images[:300, None] / 16, dtype=torch.float32)
    y = torch.tensor(data.target[:300])
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    for _ in range(epochs):
        for rows in torch.randperm(300, generator=generator).split(32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
    return model.eval()


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two evaluations of a network, after 6 and after 12 epochs."""
    folder = tmp_path_factory.mktemp("evaluated") / "digits"
    for epochs in (6, 12):
        evaluate(digits(), network(epochs=epochs), folder, epoch=epochs)
    return folder


@pytest.fixture
def run_folder(evaluated: Path, tmp_path: Path) -> Path:
    """A copy of such a run, to write to."""
    return Path(copytree(evaluated, tmp_path / "digits"))


@pytest.fixture
def dataset() -> Callable[[], Dataset]:
    return digits
