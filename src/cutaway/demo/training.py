"""The part of the demo about training: small networks on scikit-learn's digits with the hook attached."""

from __future__ import annotations

import contextlib
import copy
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from cutaway.demo.planting import TRAINING_IMAGES as LABELLED_IMAGES
from cutaway.errors import MissingExtraError

if TYPE_CHECKING:
    from torch import nn
    from torch.utils.data import DataLoader

    from cutaway.demo.labels import Digits
    from cutaway.run import Run
    from cutaway.torch import Hook

__all__ = ["PLANTED", "Cost", "Trained", "labelled_digits", "one_thread", "train", "train_sick"]

TRAINING_IMAGES = 1500
BATCH = 64
# Epochs that are also trained without the hook, before and after, to measure what the hook costs: when the first steps,
# which are slower, are over, unless the training ends before that.
COMPARED_FROM, COMPARED_TO = 2, 9
QUIET_SECONDS = 2.0
# The fault that is planted.
SICK_BIAS, SICK_EPOCHS = -30.0, 2
PLANTED = "all biases of conv2 set to -30, so that the ReLU after it lets nothing through"


@dataclass(frozen=True)
class Cost:
    """What a step of the network cost, in milliseconds: with the hook until all was written, and without it.

    Medians over triples of an epoch without the hook, with it, and without it again. `noise` is by how much two epochs
    without it differed: what cannot be told apart from nothing. `busy` says that no core was free for the writer when
    the training began.
    """

    network: str
    watched_ms: float
    bare_ms: float
    noise: float
    steps: int
    busy: bool = False

    @classmethod
    def of(cls, network: str, triples: list[tuple[float, float, float]], steps: int, *, busy: bool = False) -> Cost:
        """Return the cost of a step, by seconds of epochs of so many steps each."""
        watched = median(one[1] for one in triples)
        bare = median(seconds for one in triples for seconds in (one[0], one[2]))
        noise = median(abs(one[0] / one[2] - 1) for one in triples)
        return cls(network, 1000 * watched / steps, 1000 * bare / steps, noise, len(triples) * steps, busy)


@dataclass(frozen=True)
class Trained:
    """A finished training: its run, what the hook cost, and the label and prediction of every training sample."""

    run: Run
    cost: Cost
    labels: list[int]
    predictions: list[int]


def train(epochs: int, say: Callable[[str], None]) -> Trained:
    """Train with the hook attached; the lines that a user would add to their own loop are marked."""
    torch, _ = _imports()
    import cutaway.torch as smd  # ours

    busy = os.getloadavg()[0] > (os.cpu_count() or 1) - 1
    torch.manual_seed(7)
    images, labels = _digits()
    training, test = _loaders(torch, images, labels)
    model, criterion = _network(torch), torch.nn.CrossEntropyLoss()
    twin = copy.deepcopy(model)
    optimizer, twins = (torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9) for net in (model, twin))

    with smd.Hook(name="demo") as hook:  # ours
        hook.set_mode(smd.modes.TRAIN)  # ours
        hook.register_module(model)  # ours
        hook.register_loss(criterion)  # ours
        hook.register_optimizer(optimizer)  # ours
        seen, tested = hook.samples(training), hook.samples(test, subset="test")  # ours
        run = hook.run
        assert run is not None
        say(f"Training a CNN for {epochs} epochs into {run.path.parent.name}/{run.name} ...")
        triples, told = list[tuple[float, float, float]](), time.monotonic()
        for epoch in range(epochs):
            compared = min(COMPARED_FROM, epochs - 1) <= epoch < COMPARED_TO
            before = _epoch(twin, criterion, twins, training) if compared else 0.0
            seconds = _epoch(model, criterion, optimizer, seen, hook)
            if compared:
                triples.append((before, seconds, _epoch(twin, criterion, twins, training)))
            accuracy = _evaluate(torch, model, criterion, tested, hook)
            if time.monotonic() - told > QUIET_SECONDS:
                say(f"  epoch {epoch + 1} of {epochs}: {accuracy:.1%} of the test digits are read right")
                told = time.monotonic()
    with torch.no_grad():
        predictions = model(images[:TRAINING_IMAGES]).argmax(1)
    network = f"a CNN with {sum(one.numel() for one in model.parameters()):,} parameters, batches of {BATCH}"
    return Trained(
        run,
        Cost.of(network, triples, len(training), busy=busy),
        labels[:TRAINING_IMAGES].tolist(),
        predictions.tolist(),
    )


def train_sick(say: Callable[[str], None]) -> Run:
    """Train the same network with one sick layer, for a moment."""
    torch, _ = _imports()
    import cutaway.torch as smd

    torch.manual_seed(7)
    training, test = _loaders(torch, *_digits())
    model, criterion = _network(torch), torch.nn.CrossEntropyLoss()
    torch.nn.init.constant_(model.get_submodule("conv2").bias, SICK_BIAS)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    say("Training it again with a sick layer ...")
    with smd.Hook(name="demo-sick", include_collections=["relu_outputs"]) as hook:
        hook.set_mode(smd.modes.TRAIN)
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        seen, tested = hook.samples(training), hook.samples(test, subset="test")
        for _ in range(SICK_EPOCHS):
            _epoch(model, criterion, optimizer, seen, hook)
            _evaluate(torch, model, criterion, tested, hook)
        assert hook.run is not None
        return hook.run


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Give torch one thread: the network is too small for more, and a busy machine slows two of them down."""
    torch, _ = _imports()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _epoch(
    model: nn.Module, criterion: nn.Module, optimizer: Any, loader: DataLoader[Any], hook: Hook | None = None
) -> float:
    """Train one epoch and return its seconds, with all that the hook had to write."""
    model.train()
    began = time.perf_counter()
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
    if hook is not None:
        hook.flush()
    return time.perf_counter() - began


def _evaluate(torch: Any, model: nn.Module, criterion: nn.Module, loader: DataLoader[Any], hook: Hook) -> float:
    """Return the share of the test digits that are read right; the hook counts these as EVAL steps."""
    import cutaway.torch as smd

    model.eval()
    hook.set_mode(smd.modes.EVAL)
    right, total = 0, 0
    with torch.no_grad():
        for images, labels in loader:
            scores = model(images)
            criterion(scores, labels)
            right += int((scores.argmax(1) == labels).sum())
            total += len(labels)
    hook.save_scalar("accuracy", right / total)
    hook.set_mode(smd.modes.TRAIN)
    return right / total


def _imports() -> tuple[Any, Callable[[], Any]]:
    try:
        import torch
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtraError("The demo", "demo") from error
    return torch, load_digits


def labelled_digits() -> Digits:
    """Return the digits as the part about labels takes them."""
    from cutaway.demo.labels import Digits

    images, labels = _digits()
    return Digits(images, labels.numpy(), LABELLED_IMAGES)


def _digits() -> tuple[Any, Any]:
    """Return images, from 0 to 1 with one channel, and labels."""
    torch, load_digits = _imports()
    digits = load_digits()
    return torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16, torch.tensor(digits.target)


def _loaders(torch: Any, images: Any, labels: Any) -> tuple[DataLoader[Any], DataLoader[Any]]:
    data = torch.utils.data
    halves = (slice(None, TRAINING_IMAGES), slice(TRAINING_IMAGES, None))
    training, test = (data.TensorDataset(images[half], labels[half]) for half in halves)
    return data.DataLoader(training, batch_size=BATCH, shuffle=True), data.DataLoader(test, batch_size=BATCH)


def _network(torch: Any) -> nn.Module:
    nn = torch.nn

    class Net(nn.Module):  # type: ignore[name-defined,misc]  # torch arrives as an argument, to be imported late
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.relu1 = nn.Conv2d(1, 16, 3, padding=1), nn.ReLU()
            self.conv2, self.relu2 = nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()
            self.pool = nn.MaxPool2d(2)
            self.fc1, self.relu3 = nn.Linear(32 * 4 * 4, 64), nn.ReLU()
            self.fc2 = nn.Linear(64, 10)

        def forward(self, images: Any) -> Any:
            hidden = self.pool(self.relu2(self.conv2(self.relu1(self.conv1(images)))))
            return self.fc2(self.relu3(self.fc1(hidden.flatten(1))))

    return Net()
