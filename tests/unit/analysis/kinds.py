"""Evaluations of every kind that a person may bring: classes, many, none, places, numbers, words, series, failures."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.dataset import Binder, Dataset, PreprocessResponse
from cutaway.evaluation import evaluate

__all__ = ["KINDS", "Kind", "evaluated_kind"]

Floats = np.ndarray


@dataclass(frozen=True)
class Kind:
    """A data set and a model; `loss` and `metrics` where the default ones do not suit them."""

    dataset: Dataset
    model: Any
    loss: str | None = None


def evaluated_kind(name: str, folder: Path) -> tuple[Path, Kind]:
    """Evaluate a kind into a new run, and return the run and what made it."""
    kind = KINDS[name]()
    evaluate(kind.dataset, kind.model, folder, loss=kind.loss, keep_model=False)
    return folder, kind


def _network(*sizes: int, last: Any = None) -> Any:
    torch = pytest.importorskip("torch")
    layers: list[Any] = []
    for before, after in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
    layers.pop()
    return torch.nn.Sequential(*layers, *([] if last is None else [last])).eval()


def _vectors(count: int, seed: int = 0, width: int = 6) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


def _classes(count: int, classes: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed + 100).integers(0, classes, count)


def _facts(count: int, seed: int = 0) -> dict[str, list[Any]]:
    chance = np.random.default_rng(seed + 200)
    return {"size": chance.random(count).tolist(), "colour": chance.choice(["red", "blue"], count).tolist()}


def _two_subsets(classes: int = 3, **about: Any) -> Dataset:
    return Dataset.join(
        *(
            Dataset.from_arrays(
                _vectors(count, seed),
                _classes(count, classes, seed),
                metadata=_facts(count, seed),
                subset=name,
                **about,
            )
            for seed, (name, count) in enumerate({"training": 60, "validation": 30}.items())
        )
    )


def logits() -> Kind:
    return Kind(_two_subsets(), _network(6, 5, 3))


def probabilities() -> Kind:
    import torch

    return Kind(_two_subsets(labels=["ant", "bee", "cat"]), _network(6, 5, 3, last=torch.nn.Softmax(-1)))


def one_class() -> Kind:
    data = Dataset.from_arrays(_vectors(40), np.zeros(40, int), metadata=_facts(40))
    return Kind(data, _network(6, 5, 3))


def one_output() -> Kind:
    """A model that tells one class from nothing: one number that is always right."""
    data = Dataset.from_arrays(_vectors(40), np.zeros(40, int), metadata=_facts(40), labels=["thing"])
    return Kind(data, _network(6, 5, 1))


def one_sample() -> Kind:
    return Kind(Dataset.from_arrays(_vectors(1), np.zeros(1, int), metadata=_facts(1)), _network(6, 5, 3))


def a_subset_of_one() -> Kind:
    parts = [
        Dataset.from_arrays(_vectors(n, n), _classes(n, 3, n), metadata=_facts(n), subset=name)
        for name, n in {"training": 40, "validation": 1}.items()
    ]
    return Kind(Dataset.join(*parts), _network(6, 5, 3))


def an_empty_subset() -> Kind:
    parts = [
        Dataset.from_arrays(_vectors(n, n), _classes(n, 3, n), metadata=_facts(n), subset=name)
        for name, n in {"training": 40, "validation": 0}.items()
    ]
    return Kind(Dataset.join(*parts), _network(6, 5, 3))


def constant_latents() -> Kind:
    network = _network(6, 5, 3)
    network[0].weight.data.zero_()
    return Kind(_two_subsets(), network)


def nan_latents() -> Kind:
    network = _network(6, 5, 3)
    network[0].weight.data[:] = float("nan")
    return Kind(_two_subsets(), network)


def some_nan_latents() -> Kind:
    """Samples in the middle that overflow."""
    data = _vectors(60)
    data[20:25] = np.nan
    return Kind(Dataset.from_arrays(data, _classes(60, 3), metadata=_facts(60)), _network(6, 5, 3))


def failed_samples() -> Kind:
    """Samples in the middle that cannot be encoded, and a subset of which none can."""
    binder = Binder()
    binder.set_preprocess(lambda: [PreprocessResponse(length=60), PreprocessResponse(length=4)])
    rows = _vectors(60)

    def x(sample: int, subset: PreprocessResponse) -> Floats:
        if subset.length == 4 or 20 <= sample < 25:
            raise ValueError("this file is broken")
        return np.asarray(rows[sample])

    binder.set_input(x, "x")
    binder.set_ground_truth(lambda sample, _: np.eye(3, dtype=np.float32)[sample % 3], "y")
    binder.set_metadata(lambda sample, _: float(sample), "size")
    return Kind(binder.dataset(), _network(6, 5, 3))


def ten_thousand_classes() -> Kind:
    data = Dataset.from_arrays(_vectors(300), _classes(300, 10_000), metadata=_facts(300))
    return Kind(data, _network(6, 5, 10_000))


def no_labels() -> Kind:
    return Kind(Dataset.from_arrays(_vectors(50), metadata=_facts(50)), _network(6, 5, 3))


def an_unlabelled_subset() -> Kind:
    parts = [
        Dataset.from_arrays(_vectors(60), _classes(60, 3), metadata=_facts(60), subset="training"),
        Dataset.from_arrays(_vectors(20, 1), metadata=_facts(20, 1), subset="unlabeled"),
    ]
    return Kind(Dataset.join(*parts), _network(6, 5, 3))


def multi_label() -> Kind:
    import torch

    truths = (np.random.default_rng(3).random((60, 4)) < 0.4).astype(np.float32)
    data = Dataset.from_arrays(_vectors(60), truths, metadata=_facts(60), labels=["a", "b", "c", "d"])
    return Kind(data, _network(6, 5, 4, last=torch.nn.Sigmoid()), "BinaryCrossentropy")


def binary() -> Kind:
    import torch

    data = Dataset.from_arrays(_vectors(60), _classes(60, 2).astype(np.float32)[:, None], metadata=_facts(60))
    return Kind(data, _network(6, 5, 1, last=torch.nn.Sigmoid()), "BinaryCrossentropy")


def regression() -> Kind:
    data = _vectors(60)
    return Kind(Dataset.from_arrays(data, data.sum(axis=1, keepdims=True), metadata=_facts(60)), _network(6, 5, 1))


def several_numbers() -> Kind:
    data = _vectors(60)
    return Kind(Dataset.from_arrays(data, data[:, :3] * 2, metadata=_facts(60)), _network(6, 5, 3))


def segmentation() -> Kind:
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(4, 3, 1), torch.nn.Softmax(1)
    ).eval()
    chance = np.random.default_rng(0)
    images = chance.random((30, 8, 8, 1)).astype(np.float32)
    data = Dataset.from_arrays(images, chance.integers(0, 3, (30, 8, 8)), metadata=_facts(30))
    return Kind(data, network)


def text() -> Kind:
    torch = pytest.importorskip("torch")

    class Reader(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.words = torch.nn.Embedding(20, 8)
            self.read = torch.nn.Linear(8, 2)

        def forward(self, tokens: Any) -> Any:
            return self.read(torch.relu(self.words(tokens)).mean(dim=1))

    tokens = np.random.default_rng(0).integers(0, 20, (50, 7))
    return Kind(Dataset.from_arrays({"tokens": tokens}, _classes(50, 2), metadata=_facts(50)), Reader().eval())


def series() -> Kind:
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(
        torch.nn.Conv1d(2, 4, 5, padding=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool1d(1), torch.nn.Flatten(),
        torch.nn.Linear(4, 3),
    ).eval()  # fmt: skip
    waves = np.random.default_rng(0).normal(size=(40, 2, 32)).astype(np.float32)
    return Kind(Dataset.from_arrays(waves, _classes(40, 3), metadata=_facts(40), channel_dim=1), network)


def two_predictions() -> Kind:
    torch = pytest.importorskip("torch")

    class Two(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Linear(6, 5)
            self.kind = torch.nn.Linear(5, 3)
            self.size = torch.nn.Linear(5, 1)

        def forward(self, x: Any) -> dict[str, Any]:
            seen = torch.relu(self.body(x))
            return {"kind": self.kind(seen), "size": self.size(seen)}

    data = _vectors(60)
    truths = {"kind": _classes(60, 3), "size": data[:, :1]}
    return Kind(Dataset.from_arrays(data, truths, metadata=_facts(60)), Two().eval())


def odd_names() -> Kind:
    """Ids and classes that are anybody's text."""
    ids = [
        "a/b/c", "two words", "ünï🦉", "new\nline", "\x1b[2Jred", "<img src=x onerror=alert(1)>", "../up", "'quote\"",
        *(f"plain {i}" for i in range(32)),
    ]  # fmt: skip
    labels = ["sample", "label", "new\nline<script>", "prediction", "ß,;\x1b[31m"]
    facts = {**_facts(40), "sample": list(range(40)), "odd <b>": [str(i % 3) + "\x1b[0m" for i in range(40)]}
    data = Dataset.from_arrays(_vectors(40), _classes(40, 5), ids=ids, labels=labels, metadata=facts)
    return Kind(data, _network(6, 5, 5))


def _repeatable(make: Callable[[], Kind]) -> Callable[[], Kind]:
    """Return what makes a kind with the same weights each time, and leaves torch's generator as it was."""

    def made() -> Kind:
        torch = pytest.importorskip("torch")
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return make()

    return made


KINDS: dict[str, Callable[[], Kind]] = {
    one.__name__: _repeatable(one)
    for one in (
        logits, probabilities, one_class, one_output, one_sample, a_subset_of_one, an_empty_subset, constant_latents,
        nan_latents, some_nan_latents, failed_samples, ten_thousand_classes, no_labels, an_unlabelled_subset,
        multi_label, binary, regression, several_numbers, segmentation, text, series, two_predictions, odd_names,
    )
}  # fmt: skip
