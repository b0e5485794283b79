"""Trains six sick models and a healthy one, each with `cutaway watch` beside it, and tells which rule caught which.

    python examples/diagnose.py

Takes about a minute on two cores. Every model learns scikit-learn's handwritten digits; what makes it sick is one
planted fault, marked `sick:` below. Ends with 1 if a fault went unnoticed or the healthy model was blamed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from sklearn.datasets import load_digits
from torch import nn

import cutaway.torch as smd

EPOCHS = 6
BATCH = 32
STALL_SECONDS = 4.0

Batch = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Patient:
    """A training: its model and data, what is wrong with it, and the rule that should notice."""

    name: str
    fault: str
    expected: str | None
    model: Callable[[], nn.Module]
    batches: Callable[[], Iterator[Batch]]
    held_out: Callable[[], Batch]
    lr: float = 0.1
    epochs: int = EPOCHS
    hook: dict[str, Any] = field(default_factory=dict)
    watch: tuple[str, ...] = ()


def digits(*, training: bool) -> Batch:
    data = load_digits()
    half = slice(None, 1400) if training else slice(1400, None)
    images = torch.tensor(data.images[half], dtype=torch.float32).flatten(1) / 16
    return (images - images.mean()) / images.std(), torch.tensor(data.target[half])


def batches(images: torch.Tensor, labels: torch.Tensor) -> Iterator[Batch]:
    order = torch.randperm(len(labels))
    for start in range(0, len(order) - BATCH + 1, BATCH):
        chosen = order[start : start + BATCH]
        yield images[chosen], labels[chosen]


def all_digits() -> Iterator[Batch]:
    return batches(*digits(training=True))


def mostly_zeros() -> Iterator[Batch]:
    images, labels = digits(training=True)
    rare = torch.arange(len(labels))[labels != 0][::12]
    chosen = torch.cat([torch.arange(len(labels))[labels == 0].repeat(9), rare])  # sick: nine in ten are zeros
    return batches(images[chosen], labels[chosen])


def few_digits() -> Iterator[Batch]:
    images, labels = digits(training=True)
    few = torch.arange(64).repeat(8)  # sick: 64 digits, again and again
    return batches(images[few], labels[few])


def a_loader_that_hangs() -> Iterator[Batch]:
    for number, batch in enumerate(all_digits()):
        if number == 20:
            time.sleep(STALL_SECONDS)  # sick: the disk, the network, a lock
        yield batch


def perceptron(width: int = 64) -> nn.Module:
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))


def dead_relus() -> nn.Module:
    model = perceptron()
    with torch.no_grad():
        model[2].bias -= 30.0  # sick: no input can lift these units above zero
    return model


def deep_sigmoids() -> nn.Module:
    layers: list[nn.Module] = [nn.Linear(64, 32)]
    for _ in range(10):
        layers += [nn.Sigmoid(), nn.Linear(32, 32)]  # sick: each one shrinks the gradient to a quarter or less
    return nn.Sequential(*layers, nn.Sigmoid(), nn.Linear(32, 10))


class Exploding(nn.Module):
    """A network that divides by a norm that comes ever nearer to zero."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = perceptron()
        self.steps = 0

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        self.steps += self.training
        scores: torch.Tensor = self.inner(images)
        return scores * 10.0 ** max(0, self.steps - 60)  # sick: tenfold larger at every step from the 60th on


PATIENTS = [
    Patient("healthy", "nothing", None, perceptron, all_digits, lambda: digits(training=False)),
    Patient(
        "dead relu",
        "biases of -30 before a ReLU",
        "DeadRelu",
        dead_relus,
        all_digits,
        lambda: digits(training=False),
        hook={"include_collections": ["relu_outputs"]},
    ),
    Patient(
        "vanishing",
        "eleven sigmoids in a row",
        "VanishingGradient",
        deep_sigmoids,
        all_digits,
        lambda: digits(training=False),
    ),
    Patient(
        "exploding",
        "scores that grow without end",
        "ExplodingTensor",
        Exploding,
        all_digits,
        lambda: digits(training=False),
    ),
    Patient(
        "label imbalance",
        "nine in ten digits are zeros",
        "ClassImbalance",
        perceptron,
        mostly_zeros,
        lambda: digits(training=False),
        hook={"include_collections": ["labels", "predictions"], "save_config": smd.SaveConfig(save_interval=1)},
    ),
    Patient(
        "overfit",
        "64 digits, again and again",
        "Overfit",
        lambda: perceptron(256),
        few_digits,
        lambda: digits(training=False),
        lr=0.3,
        epochs=30,
    ),
    Patient(
        "stalled data",
        f"a loader that hangs for {STALL_SECONDS:.0f} s",
        "StalledTrainingRule",
        perceptron,
        a_loader_that_hangs,
        lambda: digits(training=False),
        epochs=1,
        watch=("--param", "StalledTrainingRule.threshold=2"),
    ),
]


def train(patient: Patient, folder: Path) -> None:
    """Train one model with the hook attached; every epoch ends with an evaluation."""
    torch.manual_seed(0)
    model, criterion = patient.model(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=patient.lr)
    images, labels = patient.held_out()
    with smd.Hook(folder, **patient.hook) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        for _ in range(patient.epochs):
            hook.set_mode(smd.modes.TRAIN)
            model.train()
            for batch, targets in patient.batches():
                optimizer.zero_grad()
                criterion(model(batch), targets).backward()
                optimizer.step()
            hook.set_mode(smd.modes.EVAL)
            model.eval()
            with torch.no_grad():
                criterion(model(images), labels)


def watch(folder: Path, options: tuple[str, ...]) -> subprocess.Popen[str]:
    """Start `cutaway watch` in a process of its own; it waits for the run to begin."""
    command = [sys.executable, "-m", "cutaway", "watch", str(folder), "--follow", "--json", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def examine(patient: Patient, folder: Path) -> list[dict[str, Any]]:
    """Train a model with a watcher beside it, and return what the rules found."""
    watcher = watch(folder, patient.watch)
    train(patient, folder)
    said, _ = watcher.communicate(timeout=60)
    lines = said.splitlines()
    # One line per finding as it was found, and then the summary over several lines.
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the runs there, to look at them afterwards")
    parser.add_argument("--only", metavar="NAME", help="one of the models")
    options = parser.parse_args()
    torch.set_num_threads(1)
    wrong = 0
    print(f"{'model':<16} {'what is wrong with it':<32} {'caught by':<22} {'step':>5}  also")
    with tempfile.TemporaryDirectory() as scratch:
        root = options.keep or Path(scratch)
        for patient in PATIENTS:
            if options.only in (None, patient.name):
                wrong += not report(patient, examine(patient, root / patient.name.replace(" ", "-")))
    return 1 if wrong else 0


def report(patient: Patient, found: list[dict[str, Any]]) -> bool:
    """Print one line, and say whether the diagnosis is right."""
    bad = [one for one in found if one["severity"] != "info"]
    first = next((one for one in bad if one["code"] == patient.expected), None)
    others = ", ".join(
        dict.fromkeys(one["code"] for one in bad if one is not first and one["code"] != patient.expected)
    )
    right = not bad if patient.expected is None else first is not None
    caught = "nobody, rightly" if not bad else "NOBODY" if first is None else first["code"]
    step = "" if first is None else first["where"]["step"]
    print(f"{patient.name:<16} {patient.fault:<32} {caught:<22} {step:>5}  {others}", flush=True)
    return right


if __name__ == "__main__":
    sys.exit(main())
