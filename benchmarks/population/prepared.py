"""What is measured on: latent vectors after the first and the second epoch, and a large set; made once under `.bench`.

A folder of its own for each data, size, network and version of torch, so that nothing stale is ever measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import bench_folder
from benchmarks.population.images import Images, read_images

__all__ = ["FULL", "QUICK", "Prepared", "Sizes", "add_large", "prepare"]

EPOCHS = 2
LARGE_SEED = 0


@dataclass(frozen=True)
class Sizes:
    """How many samples there are: those that are trained on, held out, in the large set, and asked of it."""

    train: int
    test: int
    large: int
    queries: int


FULL = Sizes(60_000, 10_000, 1_000_000, 2_000)
QUICK = Sizes(6_000, 1_000, 20_000, 500)


@dataclass(frozen=True)
class Prepared:
    """A folder of arrays, each in a file of its own name."""

    folder: Path
    about: dict[str, Any]

    def array(self, name: str, *, mapped: bool = False) -> Any:
        """One of its arrays; `mapped` leaves it in its file."""
        return np.load(self.folder / f"{name}.npy", mmap_mode="r" if mapped else None)

    def module(self) -> Any:
        """The trained network."""
        import torch

        from benchmarks.population.network import network

        module = network()
        module.load_state_dict(torch.load(self.folder / "weights.pt", weights_only=True))
        return module.eval()


def prepare(mnist: Path | None, sizes: Sizes) -> Prepared:
    """Train the network and keep its latent vectors, unless that was done before."""
    images = read_images(mnist, sizes.train, sizes.test)
    folder = bench_folder() / "population" / _key(images, sizes)
    about = folder / "about.json"
    if not about.exists():
        unfinished = folder.with_name(f"{folder.name}-{os.getpid()}")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        accuracy = _train(images, unfinished)
        facts = {"data": images.name, "real": images.real, "accuracy": accuracy, "sizes": asdict(sizes)}
        (unfinished / about.name).write_text(json.dumps(facts, indent=2) + "\n")
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.replace(folder)
    return Prepared(folder, json.loads(about.read_text()))


def add_large(prepared: Prepared) -> None:
    """Make the large set and the queries, unless they are there: latents of turned and shifted images."""
    import torch

    sizes = Sizes(**prepared.about["sizes"])
    random = torch.Generator().manual_seed(LARGE_SEED)
    module = prepared.module()
    for name, source, count in (("queries", "test_images", sizes.queries), ("large", "images", sizes.large)):
        path = prepared.folder / f"{name}.npy"
        if not path.exists():
            _write_turned(module, prepared.array(source), count, path, random)


def _write_turned(module: Any, images: Any, count: int, path: Path, random: Any) -> None:
    from benchmarks.population.network import LATENTS, PREDICTED, latents_of, turned_and_shifted

    unfinished = path.with_suffix(f".{os.getpid()}")
    found = np.lib.format.open_memmap(unfinished, "w+", np.float32, (count, LATENTS))
    for start in range(0, count, PREDICTED):
        rows = np.arange(start, min(start + PREDICTED, count)) % len(images)
        found[start : start + len(rows)] = latents_of(module, turned_and_shifted(images[rows], random))
    found.flush()
    unfinished.replace(path)


def _train(images: Images, folder: Path) -> float:
    """Train, write what each epoch gave, and return which share of the test images is read correctly."""
    import torch

    from benchmarks.population.network import HEAD, RATE, latents_of, network, train_epoch

    module = network()
    optimizer = torch.optim.Adam(module.parameters(), RATE)
    arrays: dict[str, Any] = {
        "images": images.train,
        "labels": images.train_labels,
        "test_images": images.test,
        "test_labels": images.test_labels,
    }
    for epoch in range(1, EPOCHS + 1):
        train_epoch(module, optimizer, images.train, images.train_labels, epoch)
        arrays[f"latents_{epoch}"] = latents_of(module, images.train)
        arrays[f"test_{epoch}"] = latents_of(module, images.test)
    with torch.no_grad():
        for name in ("latents", "test"):
            scores = module[HEAD](torch.from_numpy(arrays[f"{name}_{EPOCHS}"]))
            arrays[f"{name}_probabilities"] = scores.softmax(1).numpy()
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    torch.save(module.state_dict(), folder / "weights.pt")
    return float((arrays["test_probabilities"].argmax(1) == images.test_labels).mean())


def _key(images: Images, sizes: Sizes) -> str:
    import torch

    here = Path(__file__).parent
    sources = [(here / name).read_text() for name in ("images.py", "network.py", "prepared.py")]
    told = json.dumps([images.name, asdict(sizes), torch.__version__, *sources])
    return hashlib.sha256(told.encode()).hexdigest()[:16]
