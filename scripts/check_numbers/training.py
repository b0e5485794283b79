"""One training of a session, in a process of its own: a plain PyTorch loop with the hook.

What the loop itself knows of each step goes into a file beside the run, without Cutaway: it is what the numbers that
Cutaway shows are held against.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scripts.check_numbers.data import Prepared

BATCH = 64
# Full steps of which the statistics of all weights and gradients are kept.
LOOKED_AT = (0, 1, 7)


class OwnRecord:
    """What a loop writes down by itself."""

    def __init__(self) -> None:
        self.step = 0
        self.rows: dict[str, list[Any]] = {}

    def add(self, **values: Any) -> None:
        """Add a value to each of some lists."""
        for name, value in values.items():
            self.rows.setdefault(name, []).append(value)

    def statistics(self, model: Any) -> None:
        """Keep the statistics of what this step's forward used, and of its gradients, in double precision."""
        kind = type(model).__name__
        for name, parameter in model.named_parameters():
            for full, tensor in ((f"{kind}_{name}", parameter), (f"gradient/{kind}_{name}", parameter.grad)):
                values = tensor.detach().numpy().astype(np.float64).reshape(-1)
                self.add(
                    statistics_tensor=full,
                    statistics_step=self.step,
                    statistics_values=[
                        values.min(), values.max(), values.mean(), values.std(),
                        np.abs(values).sum(), np.sqrt((values**2).sum()),
                    ],
                )  # fmt: skip

    def save(self, path: Path, **more: Any) -> None:
        """Write all lists, and more, as arrays."""
        held: dict[str, Any] = {name: np.array(values) for name, values in self.rows.items()}
        np.savez(path, **held, **more)


def network(height: int, width: int, units: int) -> Any:
    """Return a small CNN whose last layer but one has so many units."""
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(16 * (height // 4) * (width // 4), units), nn.ReLU(), nn.Linear(units, 10),
    )  # fmt: skip


def answers(model: Any, images: Any) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the scores of a network for images and what enters its last layer, by torch alone."""
    import torch

    scores, latents = [], []
    with torch.no_grad():
        for batch in torch.split(images, 500):
            latents.append(model[:-1](batch))
            scores.append(model[-1](latents[-1]))
    return torch.cat(scores).numpy(), torch.cat(latents).numpy()


class Loop:
    """A training: its network, its data as tensors, and what it writes down by itself."""

    def __init__(self, data: Prepared, reduction: str) -> None:
        import torch

        from cutaway.dataset import corrected, sample_weights

        self.data, self.record = data, OwnRecord()
        self.images = torch.tensor(data.images[:, None] / 255, dtype=torch.float32)
        training = data.rows("training")
        self.labels = data.labels.copy()
        self.labels[training] = corrected(self.labels[training])
        self.weights = torch.tensor(sample_weights(len(training)))
        height, width = data.images.shape[1:]
        self.model = network(height, width, units=64)
        self.criterion = torch.nn.CrossEntropyLoss(reduction=reduction)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def loader(self) -> Any:
        """Return the batches of training, each sample with its weight and its place."""
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        rows = self.data.rows("training")
        parts = (self.images[rows], torch.tensor(self.labels[rows]), self.weights, torch.arange(len(rows)))
        return DataLoader(TensorDataset(*parts), batch_size=BATCH, shuffle=True)

    def learn(self, hook: Any, loader: Any, epoch: int) -> None:
        """Train for an epoch."""
        self.model.train()
        for batch, wanted, weight, places in hook.samples(loader):
            self.optimizer.zero_grad()
            scores = self.model(batch)
            losses = self.criterion(scores, wanted)
            (weight * losses).mean().backward()
            if self.record.step in LOOKED_AT:
                self.record.statistics(self.model)
            self.optimizer.step()
            right = (scores.argmax(1) == wanted).double().mean().item()
            hook.save_scalar("accuracy", right)
            each, margins = _each(scores, wanted)
            step = self.record.step
            self.record.add(train_step=step, train_epoch=epoch, train_loss=each.mean(), train_accuracy=right)
            self.record.add(visit_step=np.full(len(each), step), visit_row=places.numpy(), visit_loss=each)
            self.record.add(visit_margin=margins)
            self.record.step += 1
            if self.record.step % 4 == 0:
                hook.flush()  # however busy the machine is, no step is thinned out

    def validate(self, hook: Any) -> None:
        """Ask the network about every sample of validation."""
        import torch

        self.model.eval()
        rows = self.data.rows("validation")
        for some in np.array_split(rows, max(1, len(rows) // 500)):
            with torch.no_grad():
                wanted, scores = torch.tensor(self.labels[some]), self.model(self.images[some])
                self.criterion(scores, wanted)
            right = (scores.argmax(1) == wanted).double().mean().item()
            hook.save_scalar("accuracy", right)
            each, _ = _each(scores, wanted)
            self.record.add(eval_step=self.record.step, eval_loss=each.mean(), eval_accuracy=right)
            self.record.step += 1

    def dataset(self) -> Any:
        """Return both subsets as an evaluation takes them."""
        from cutaway.dataset import Dataset

        return Dataset.join(*(_part(self.data, self.labels, name) for name in ("training", "validation")))


def train(data: Prepared, out: Path, own: Path, *, epochs: int, reduction: str, seed: int, evaluated: bool) -> None:
    """Train, evaluate into the same run, and write down what the loop saw."""
    import torch

    import cutaway.torch as smd
    from cutaway.evaluation import evaluate

    torch.manual_seed(seed)
    loop = Loop(data, reduction)
    loader, record = loop.loader(), loop.record
    with smd.Hook(out) as hook:
        hook.register_module(loop.model)
        hook.register_loss(loop.criterion)
        hook.register_optimizer(loop.optimizer)
        for epoch in range(epochs):
            hook.set_mode(smd.modes.TRAIN)
            loop.learn(hook, loader, epoch)
            hook.set_mode(smd.modes.EVAL)
            loop.validate(hook)
        hook.flush()
        scores, latents = answers(loop.model.eval(), loop.images)
        if evaluated:
            evaluate(loop.dataset(), loop.model, hook, keep_model=False, workers=1)
    for name in ("visit_step", "visit_row", "visit_loss", "visit_margin"):
        record.rows[name] = list(np.concatenate(record.rows[name]))
    record.save(own, scores=scores, latents=latents, labels=loop.labels)


def _each(scores: Any, labels: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the loss of each sample of a batch and its margin: the score of the label less the largest other."""
    import torch

    single = torch.nn.CrossEntropyLoss(reduction="none")
    each = single(scores.detach(), labels).double().numpy()
    return each, _margins(scores.detach().double().numpy().copy(), labels.numpy())


def _margins(scores: npt.NDArray[np.float64], labels: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the score of the label less the largest other."""
    rows = np.arange(len(scores))
    mine = scores[rows, labels].copy()
    scores[rows, labels] = -np.inf
    return np.asarray(mine - scores.max(axis=1))


def _part(data: Prepared, labels: npt.NDArray[np.int64], name: str) -> Any:
    from cutaway.dataset import Dataset

    rows = data.rows(name)
    facts = {"scanner": data.scanner[rows].tolist(), "ink": data.ink[rows].tolist(),
             "rows_inked": data.rows_inked[rows].tolist()}  # fmt: skip
    images = (data.images[rows, None] / 255).astype(np.float32)
    return Dataset.from_arrays(
        images, labels[rows], metadata=facts, labels=list("0123456789"), subset=name, channel_dim=1
    )


def main() -> None:
    """Read what to train from the command line."""
    parser = argparse.ArgumentParser(prog="python -m scripts.check_numbers.training", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("own", type=Path)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--reduction", choices=("none", "mean"), default="none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--evaluated", action="store_true")
    given = parser.parse_args()
    train(Prepared.load(given.data), given.out, given.own, epochs=given.epochs, reduction=given.reduction,
          seed=given.seed, evaluated=given.evaluated)  # fmt: skip


if __name__ == "__main__":
    main()
