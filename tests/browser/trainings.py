"""Real trainings whose runs the pages show: a healthy one, sick ones, long, large and live ones."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["DEAD_LAYER", "LIVE_TRAINING", "MAKERS", "MANY_LAYERS", "live_training"]

BATCH = 16
# The layer of the sick network that never lets anything through.
DEAD_LAYER = "dead"
MANY_LAYERS = 500


def _digits(count: int) -> tuple[Any, Any]:
    import torch
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return torch.tensor(images[:count, None].reshape(-1, 1, 8, 8) / 16, dtype=torch.float32), torch.tensor(
        labels[:count]
    )


def train_healthy(path: Path) -> None:
    """A small CNN that learns, in two modes, with its samples, scalars of its own and some tensors in full."""
    import torch

    from cutaway.torch import Hook, SaveConfig

    torch.manual_seed(0)
    images, labels = _digits(480)
    model = torch.nn.Sequential()
    model.add_module("conv1", torch.nn.Conv2d(1, 6, 3, padding=1))
    model.add_module("relu1", torch.nn.ReLU())
    model.add_module("conv2", torch.nn.Conv2d(6, 8, 3, stride=2, padding=1))
    model.add_module("relu2", torch.nn.ReLU())
    model.add_module("flatten", torch.nn.Flatten())
    model.add_module("head", torch.nn.Linear(128, 10))
    criterion, optimizer = torch.nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters(), lr=3e-3)
    hook = Hook(path, include_collections=["weights", "gradients", "losses"], save_config=SaveConfig(save_interval=30))
    with hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        hook.set_config({"lr": 3e-3, "width": 8, "model": {"kind": "cnn", "depth": 2}, "augment": False})
        for epoch in range(4):
            hook.set_epoch(epoch)
            for first in range(0, len(images), BATCH):
                training = first < 400
                hook.set_mode("TRAIN" if training else "EVAL")
                model.train(training)
                hook.set_samples(list(range(first, first + BATCH)), subset="training" if training else "validation")
                optimizer.zero_grad()
                answers = model(images[first : first + BATCH])
                loss = criterion(answers, labels[first : first + BATCH])
                if training:
                    loss.backward()
                    optimizer.step()
                right = (answers.argmax(1) == labels[first : first + BATCH]).float().mean()
                hook.save_scalar("accuracy", float(right))
    _watch(path)


def train_sick(path: Path) -> None:
    """A network with a layer that is dead from its first step, evaluated with previews; rules have looked at it."""
    import torch

    from cutaway.dataset import Dataset
    from cutaway.evaluation import evaluate
    from cutaway.torch import Hook

    torch.manual_seed(1)
    images, labels = _digits(240)
    model = torch.nn.Sequential()
    model.add_module("flatten", torch.nn.Flatten())
    model.add_module("first", torch.nn.Linear(64, 24))
    model.add_module("first_relu", torch.nn.ReLU())
    dead = torch.nn.Linear(24, 24)
    torch.nn.init.constant_(dead.bias, -100.0)
    model.add_module(DEAD_LAYER, dead)
    model.add_module("dead_relu", torch.nn.ReLU())
    model.add_module("head", torch.nn.Linear(24, 10))
    criterion, optimizer = torch.nn.CrossEntropyLoss(reduction="none"), torch.optim.SGD(model.parameters(), lr=0.05)
    with Hook(path, include_collections=["weights", "gradients", "losses", "relu_outputs"]) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        hook.set_config({"lr": 0.05, "width": 24, "model": {"kind": "mlp", "depth": 3}, "augment": True})
        hook.set_mode("TRAIN")
        for step in range(90):
            rows = [(step * BATCH + i) % len(images) for i in range(BATCH)]
            hook.set_samples(rows)
            optimizer.zero_grad()
            losses = criterion(model(images[rows]), labels[rows])
            losses.mean().backward()
            optimizer.step()
            hook.save_sample_values(rows, loss=losses.tolist())
            hook.save_scalar("loss", float(losses.detach().mean()))
    model.eval()
    evaluate(Dataset.from_arrays(images.numpy(), labels.numpy(), channel_dim=1), model, path, keep_model=False)
    _watch(path)


def train_broken(path: Path) -> None:
    """A network with NaN in it from the middle on, and a score that is not finite from there."""
    import torch

    from cutaway.torch import Hook

    torch.manual_seed(2)
    first = torch.nn.Linear(4, 8)
    model = torch.nn.Sequential(first, torch.nn.ReLU(), torch.nn.Linear(8, 3))
    criterion, optimizer = torch.nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.1)
    with Hook(path) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        hook.set_config({"lr": 0.1})
        for step in range(60):
            optimizer.zero_grad()
            criterion(model(torch.randn(8, 4)), torch.randint(0, 3, (8,))).backward()
            optimizer.step()
            hook.save_scalar("score", float("nan") if 20 <= step < 30 else float(step))
            if step == 40:
                with torch.no_grad():
                    first.weight[0, 0] = float("nan")
    _watch(path)


def train_long(path: Path) -> None:
    """Three layers and more steps than a curve has points."""
    import torch

    from cutaway.torch import Hook

    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3), torch.nn.Linear(3, 2))
    criterion, optimizer = torch.nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.01)
    with Hook(path) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        for _ in range(2500):
            optimizer.zero_grad()
            criterion(model(torch.randn(2, 3)), torch.zeros(2, 2)).backward()
            optimizer.step()


def train_large(path: Path) -> None:
    """As many layers as a deep network has, each of them tiny."""
    import torch

    from cutaway.torch import Hook

    torch.manual_seed(4)
    model = torch.nn.Sequential()
    for number in range(MANY_LAYERS):
        model.add_module(f"layer{number:03}", torch.nn.Linear(2, 2))
    criterion, optimizer = torch.nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.01)
    with Hook(path) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        for _ in range(4):
            optimizer.zero_grad()
            criterion(model(torch.randn(2, 2)), torch.zeros(2, 2)).backward()
            optimizer.step()


MAKERS: dict[str, Callable[[Path], None]] = {
    "healthy": train_healthy,
    "sick": train_sick,
    "broken": train_broken,
    "long": train_long,
    "large": train_large,
}


def _watch(path: Path) -> None:
    from cutaway.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(["watch", str(path), "--fail-on", "never"])


LIVE_TRAINING = """
import sys, time, torch
from cutaway.torch import Hook

torch.manual_seed(5)
torch.set_num_threads(1)
model, criterion = torch.nn.Linear(4, 2), torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with Hook(sys.argv[1]) as hook:
    hook.register_module(model)
    hook.register_loss(criterion)
    hook.register_optimizer(optimizer)
    for step in range(100_000):
        optimizer.zero_grad()
        criterion(model(torch.randn(8, 4)), torch.zeros(8, dtype=torch.long)).backward()
        optimizer.step()
        hook.save_scalar("lr", optimizer.param_groups[0]["lr"])
        time.sleep(0.05)
        if hook.should_stop:
            break
"""


@contextlib.contextmanager
def live_training(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Train in a process of its own until it is asked to stop, or the block ends."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([sys.executable, "-c", LIVE_TRAINING, str(path)], env=environment) as training:
        try:
            yield training
        finally:
            training.terminate()
