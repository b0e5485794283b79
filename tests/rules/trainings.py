"""Small trainings on digits, sick and healthy, each into a run folder: what rules must tell apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch
from sklearn.datasets import load_diabetes, load_digits
from torch import nn

import cutaway.torch as smd
from cutaway.run import Run

Batch = tuple[torch.Tensor, torch.Tensor]
BATCH = 32
STEPS = 260


@cache
def digits() -> Batch:
    """The training digits, around zero, in an order of chance."""
    data = load_digits()
    order = torch.randperm(len(data.target), generator=torch.Generator().manual_seed(0))[:1400]
    images = torch.tensor(data.images, dtype=torch.float32).flatten(1)[order] / 16
    return (images - images.mean()) / images.std(), torch.tensor(data.target)[order]


@cache
def diabetes() -> Batch:
    """A regression with much noise: nothing explains more than half of the variance."""
    inputs, answers = load_diabetes(return_X_y=True)
    values = torch.tensor(inputs, dtype=torch.float32)
    targets = torch.tensor(answers, dtype=torch.float32)[:, None]
    return values / values.std(0), (targets - targets.mean()) / targets.std()


def shuffled_labels() -> Batch:
    images, labels = digits()
    return images, labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(1))]


def equal_inputs() -> Batch:
    images, labels = digits()
    return images[:1].expand_as(images), labels


def some_wrong_labels() -> Batch:
    images, labels = digits()
    chance = torch.Generator().manual_seed(2)
    wrong = torch.rand(len(labels), generator=chance) < 0.2
    return images, torch.where(wrong, torch.randint(0, 10, (len(labels),), generator=chance), labels)


def a_broken_sample() -> Batch:
    images, labels = digits()
    images = images.clone()
    images[700, 5] = math.inf
    return images, labels


def images_themselves() -> Batch:
    images, _ = digits()
    return images, images


def odd_or_even() -> Batch:
    images, labels = digits()
    return images, (labels % 2).float()[:, None]


def perceptron(activation: type[nn.Module] = nn.ReLU, hidden: int = 2, width: int = 64) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Linear(64, width), activation()]
    for _ in range(hidden - 1):
        layers += [nn.Linear(width, width), activation()]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def convolutions(*, normalised: bool = False) -> nn.Sequential:
    def norm(channels: int) -> list[nn.Module]:
        return [nn.BatchNorm2d(channels)] if normalised else []

    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        *(nn.Conv2d(1, 8, 3, padding=1), *norm(8), nn.ReLU()),
        *(nn.Conv2d(8, 16, 3, padding=1), *norm(16), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(256, 32), nn.ReLU(), nn.Linear(32, 10)),
    )


def dead() -> nn.Sequential:
    model = perceptron()
    for layer in (model[0], model[2]):
        nn.init.constant_(layer.get_parameter("bias"), -30.0)
    return model


def all_zero() -> nn.Sequential:
    model = perceptron()
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    return model


def large_first_weights() -> nn.Sequential:
    model = perceptron()
    nn.init.normal_(model[-1].get_parameter("weight"), std=0.5)
    return model


class Exploding(nn.Module):
    """A network that divides by a norm that comes ever nearer to zero."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.steps = perceptron(), 0

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        scores: torch.Tensor = self.inner(images)
        return scores * 10.0 ** max(0, self.steps - 60)


class Rows(nn.Module):
    """A recurrent network that reads an image row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 32, batch_first=True), nn.Linear(32, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.lstm(images.view(-1, 8, 8))[0][:, -1])
        return scores


class Attention(nn.Module):
    """One block of a transformer over the rows of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(8, 32)
        self.block = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.1, batch_first=True)
        self.head = nn.Linear(32, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.block(self.embed(images.view(-1, 8, 8))).mean(1))
        return scores


class Residual(nn.Module):
    """Blocks whose last weights start at zero on purpose, as adapters and residual networks do."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.head = nn.Linear(64, 48), nn.Linear(48, 10)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 48)) for _ in range(3))
        for block in self.blocks:
            nn.init.zeros_(block[2].weight)  # type: ignore[index]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        hidden = self.first(images)
        for block in self.blocks:
            hidden = hidden + block(hidden)
        scores: torch.Tensor = self.head(hidden)
        return scores


def trained(steps: int = 600) -> nn.Sequential:
    """A network that has learned the digits already."""
    model, (images, labels) = perceptron(), digits()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(steps):
        rows = torch.randint(0, len(labels), (BATCH,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
        torch.autograd.backward(loss)
        optimizer.step()
    return model


def with_new_head() -> nn.Sequential:
    """A trained network, frozen but for a new last layer."""
    model = trained()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    model[-1] = nn.Linear(64, 10)
    return model


def everything(model: nn.Module) -> list[nn.Parameter]:
    return [one for one in model.parameters() if one.requires_grad]


def sgd(rate: float, momentum: float = 0.0) -> Callable[[nn.Module], torch.optim.Optimizer]:
    return lambda model: torch.optim.SGD(everything(model), lr=rate, momentum=momentum)


def adam(rate: float) -> Callable[[nn.Module], torch.optim.Optimizer]:
    return lambda model: torch.optim.Adam(everything(model), lr=rate)


def without_first_layer(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(list(model.parameters())[2:], lr=0.1)


def of_another_model(_model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(perceptron().parameters(), lr=0.1)


def warm_up(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
    """A rate that is raised over 150 steps, and then falls to zero."""
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: (step + 1) / 150 if step < 150 else 0.5 + 0.5 * math.cos(math.pi * (step - 150) / 250)
    )


@dataclass(frozen=True)
class Training:
    """A training, and where it is sick, the findings of which one must be told first."""

    name: str
    first: tuple[str, ...] = ()
    model: Callable[[], nn.Module] = perceptron
    data: Callable[[], Batch] = digits
    optimizer: Callable[[nn.Module], torch.optim.Optimizer] = field(default_factory=lambda: sgd(0.1))
    schedule: Callable[[torch.optim.Optimizer], Any] | None = None
    loss: Callable[[], nn.Module] = nn.CrossEntropyLoss
    sign: float = 1.0
    steps: int = STEPS
    batch: int = BATCH
    evaluates: bool = True
    hook: dict[str, Any] = field(default_factory=dict)
    learns: bool = False  # a sick one that learns all the same: no error

    def run(self, folder: Path, seed: int = 0) -> Run:
        """Train with the hook attached, and return the run."""
        torch.manual_seed(seed)
        model, criterion, (inputs, answers) = self.model(), self.loss(), self.data()
        optimizer = self.optimizer(model)
        schedule = self.schedule(optimizer) if self.schedule is not None else None
        with smd.Hook(folder, **self.hook) as hook:
            hook.register_module(model)
            hook.register_loss(criterion)
            hook.register_optimizer(optimizer)
            hook.set_mode(smd.modes.TRAIN)
            for step, rows in enumerate(self._rows(len(answers))):
                if self.evaluates and step % 43 == 42:
                    self._evaluate(hook, model, criterion)
                model.train()
                optimizer.zero_grad()
                (self.sign * criterion(model(inputs[rows]), answers[rows])).backward()
                optimizer.step()
                if schedule is not None:
                    schedule.step()
        return Run.open(folder)

    def _rows(self, count: int) -> Iterator[torch.Tensor]:
        left = self.steps
        while left:
            for rows in torch.split(torch.randperm(count), self.batch)[: max(count // self.batch, 1)]:
                if left:
                    left -= 1
                    yield rows

    def _evaluate(self, hook: Any, model: nn.Module, criterion: nn.Module) -> None:
        inputs, answers = self.data()
        hook.set_mode(smd.modes.EVAL)
        model.eval()
        with torch.no_grad():
            criterion(model(inputs[:200]), answers[:200])
        hook.set_mode(smd.modes.TRAIN)


@dataclass(frozen=True)
class Adversaries(Training):
    """Two networks, two optimizers, one loss: neither loss needs to fall."""

    watches: str = "both"

    def run(self, folder: Path, seed: int = 0) -> Run:
        torch.manual_seed(seed)
        images, _ = digits()
        made = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64))
        judge = nn.Sequential(nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
        both, criterion = nn.ModuleDict({"made": made, "judge": judge}), nn.BCEWithLogitsLoss()
        optimizers = [torch.optim.Adam(one.parameters(), lr=5e-4, betas=(0.5, 0.999)) for one in (made, judge)]
        with smd.Hook(folder) as hook:
            hook.register_module(judge if self.watches == "judge" else both)
            hook.register_loss(criterion)
            for one in optimizers[1:] if self.watches == "judge" else optimizers:
                hook.register_optimizer(one)
            hook.set_mode(smd.modes.TRAIN)
            for rows in self._rows(len(images)):
                real, drawn = images[rows], made(torch.randn(len(rows), 8))
                yes, no = torch.ones(len(rows), 1), torch.zeros(len(rows), 1)
                optimizers[1].zero_grad()
                (criterion(judge(real), yes) + criterion(judge(drawn.detach()), no)).backward()
                optimizers[1].step()
                optimizers[0].zero_grad()
                criterion(judge(drawn), yes).backward()
                optimizers[0].step()
        return Run.open(folder)


SICK = (
    Training("learning rate 100 times too high", ("LearningRateTooHigh",), optimizer=sgd(10.0)),
    Training("learning rate 100 times too high, Adam", ("LearningRateTooHigh",), convolutions, optimizer=adam(0.3)),
    Training("learning rate 1000 times too low", ("LearningRateTooLow",), optimizer=sgd(1e-4)),
    Training("learning rate 10,000 times too low, Adam", ("LearningRateTooLow",), convolutions, optimizer=adam(1e-7)),
    Training("dead network", ("AllZero",), dead),
    Training("dead network, ReLUs watched", ("DeadRelu",), dead, hook={"include_collections": ["relu_outputs"]}),
    Training("dead network trained by Adam", ("AllZero",), dead, optimizer=adam(1e-3)),
    Training("labels shuffled", ("NotLearning",), data=shuffled_labels),
    Training("labels shuffled, a CNN", ("NotLearning",), lambda: convolutions(normalised=True), shuffled_labels),
    Training("labels shuffled, large first weights", ("NotLearning",), large_first_weights, shuffled_labels),
    Training("loss of the wrong sign", ("NotLearning",), optimizer=sgd(0.005), sign=-1.0),
    Training("weights of zero", ("AllZero",), all_zero),
    Training("all inputs the same", ("NotLearning",), data=equal_inputs),
    Training("a layer that the optimizer lacks", ("UnchangedTensor",), optimizer=without_first_layer, learns=True),
    Training("an optimizer of another model", ("UnchangedTensor",), optimizer=of_another_model),
    Training(
        "eleven sigmoids", ("VanishingGradient", "PoorWeightInitialization"), lambda: perceptron(nn.Sigmoid, 11, 32)
    ),
    Training("scores that explode", ("ExplodingTensor",), Exploding),
    Training("an infinite input", ("ExplodingTensor",), data=a_broken_sample),
)
HEALTHY = (
    Training("MLP, SGD"),
    Training("MLP, Adam", optimizer=adam(1e-3)),
    Training("CNN, SGD with momentum", model=convolutions, optimizer=sgd(0.02, 0.9)),
    Training("CNN, Adam", model=convolutions, optimizer=adam(2e-3)),
    Training("CNN with BatchNorm, a large rate", model=lambda: convolutions(normalised=True), optimizer=adam(2e-2)),
    Training("CNN, large batches", model=convolutions, optimizer=adam(3e-3), batch=350),
    Training("MLP of tanh", model=lambda: perceptron(nn.Tanh), optimizer=sgd(0.05)),
    Training("MLP of sigmoids", model=lambda: perceptron(nn.Sigmoid), optimizer=adam(5e-3)),
    Training("a deep network", model=lambda: perceptron(nn.ReLU, 5), optimizer=adam(1e-3)),
    Training("a head on a frozen backbone", model=with_new_head, optimizer=adam(1e-3)),
    Training("a trained network, trained on", model=trained, optimizer=adam(1e-4)),
    Training("converged long ago", optimizer=adam(3e-3), steps=1200),
    Training("converged on noisy labels", data=some_wrong_labels, optimizer=sgd(0.05), steps=800),
    Training("a schedule with warm-up", model=convolutions, optimizer=adam(3e-3), schedule=warm_up, steps=400),
    Training(
        "regression",
        model=lambda: nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1)),
        data=diabetes,
        optimizer=adam(1e-3),
        loss=nn.MSELoss,
    ),
    Training("linear regression", model=lambda: nn.Linear(10, 1), data=diabetes, optimizer=sgd(0.02), loss=nn.MSELoss),
    Training(
        "two classes",
        model=lambda: nn.Sequential(perceptron(), nn.Linear(10, 1)),
        data=odd_or_even,
        optimizer=adam(2e-3),
        loss=nn.BCEWithLogitsLoss,
    ),
    Training(
        "autoencoder",
        model=lambda: nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 64)),
        data=images_themselves,
        optimizer=adam(2e-3),
        loss=nn.MSELoss,
    ),
    Training("recurrent network", model=Rows, optimizer=adam(5e-3)),
    Training("transformer", model=Attention, optimizer=adam(1e-3)),
    Training("blocks that start at zero", model=Residual, optimizer=adam(1e-3)),
    Training("a small rate without momentum", model=convolutions, optimizer=sgd(0.01), steps=400),
    Training("small batches", optimizer=sgd(0.01), batch=4, steps=600),
    Adversaries("adversaries", steps=400),
    Adversaries("adversaries, one of them watched", steps=400, watches="judge"),
)
