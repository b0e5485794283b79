"""The part of the demo about labels: plants wrong ones, finds them by what one training leaves behind, fixes them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.arrays import Float32Array, Int64Array
from cutaway.demo.planting import SHARE, planted_labels
from cutaway.run.overlays import DROP, LABEL, OVERLAY_VARIABLE, write_overlay

if TYPE_CHECKING:
    from cutaway.analysis.fixing import Gain
    from cutaway.dataset import Dataset
    from cutaway.run import Run
    from cutaway.run.overlays import Overlay
    from cutaway.trial.summary import Facts

__all__ = ["SEEDS", "Digits", "Fixed", "fix_labels", "fix_seeds", "gain_of", "what_fixing_bought"]

# Seeds and network are fixed, and were before anything was measured with them. The first is that of the run that stays,
# and of the binding that brings its samples back.
SEEDS = tuple(range(20))
BINDING = Path(__file__).parent / "binding" / "leap_binder.py"
EPOCHS = 30
NAMES = [str(digit) for digit in range(10)]
BATCH = 64


@dataclass(frozen=True)
class Fixed:
    """One seed: how many labels were wrong, what was changed, and the accuracy of three trainings.

    Of the samples that were `relabelled` or `dropped`, `found` were planted and `false` were not; `right` are those
    relabelled as they were before. `before` is trained on the wrong labels, `after` on the corrected ones, `clean` on
    the right ones: with the same weights to begin with, and in the same order.
    """

    seed: int
    planted: int
    relabelled: int
    dropped: int
    found: int
    right: int
    before: float
    after: float
    clean: float

    @property
    def changed(self) -> int:
        """How many samples were changed."""
        return self.relabelled + self.dropped

    @property
    def false(self) -> int:
        """How many samples were changed whose label was right."""
        return self.changed - self.found


@dataclass(frozen=True)
class Digits:
    """The digits as the demo trains on them: images, right labels, and where the test begins."""

    images: Any
    labels: Int64Array
    training: int


def fix_labels(digits: Digits, say: Callable[[str], None], seeds: int) -> tuple[Run, list[Fixed]]:
    """Plant wrong labels, find, fix and train again, for each seed; return the run of the first, and all results.

    The seeds are the first of those that are fixed, and go on after them.
    """
    import cutaway.torch as smd
    from cutaway.dataset import load_entry

    say(f"Planting {SHARE:.0%} confusable wrong labels, finding and fixing them, with {seeds} seeds ...")
    with smd.Hook(name="demo-labels") as hook:
        first = _fixed(SEEDS[0], digits, hook, load_entry(BINDING).dataset())
        run = hook.run
    assert run is not None
    _look_at(run)
    return run, [first, *fix_seeds(range(SEEDS[0] + 1, SEEDS[0] + seeds), digits)]


def fix_seeds(seeds: Iterable[int], digits: Digits) -> list[Fixed]:
    """Do the same for some seeds, in runs that nobody will look at."""
    import cutaway.torch as smd

    results = []
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="cutaway-demo-") as folder, smd.Hook(Path(folder) / "run") as hook:
            results.append(_fixed(seed, digits, hook))
    return results


def gain_of(results: list[Fixed]) -> Gain:
    """Return what the fix bought: each seed trained before and after."""
    from cutaway.analysis.fixing import gain_over_seeds

    return gain_over_seeds([one.before for one in results], [one.after for one in results])


def what_fixing_bought(run: Run, results: list[Fixed]) -> Facts:
    """Return the results as JSON values, with what the fix bought over seeds."""
    gain = gain_of(results)
    names = ("planted", "relabelled", "dropped", "changed", "found", "right", "false")
    return {
        "run": run.name,
        "path": run.path,
        "share": SHARE,
        "seeds": [asdict(one) for one in results],
        **{name: sum(getattr(one, name) for one in results) for name in names},
        "gain": asdict(gain),
        "verdict": gain.verdict,
        "clean": float(np.mean([one.clean for one in results])),
    }


def _fixed(seed: int, digits: Digits, hook: Any, dataset: Dataset | None = None) -> Fixed:
    from cutaway.dataset import corrected, sample_weights

    right_labels = digits.labels[: digits.training]
    labels = planted_labels(right_labels, seed)
    planted = labels != right_labels
    model, before = _trained(digits, labels, seed, hook)
    decided = _corrections(model, hook, dataset or _arrays(digits, labels), keep_model=dataset is not None)
    with _overlay(decided.path):
        after = _trained(digits, corrected(labels), seed, weights=sample_weights(len(labels)))[1]
    clean = _trained(digits, right_labels, seed)[1]
    relabelled, dropped = decided.of("training", LABEL), decided.of("training", DROP)
    rows, left_out = _rows(relabelled), _rows(dropped)
    new = np.array([int(one.new) for one in relabelled.values()], np.int64)
    found = int(planted[rows].sum() + planted[left_out].sum())
    right = int((new == digits.labels[rows]).sum())
    return Fixed(seed, int(planted.sum()), len(rows), len(left_out), found, right, before, after, clean)


def _rows(samples: Iterable[str]) -> Int64Array:
    return np.array([int(one.partition("/")[2]) for one in samples], np.int64)


def _trained(
    digits: Digits, labels: Int64Array, seed: int, hook: Any = None, weights: Float32Array | None = None
) -> tuple[Any, float]:
    """Train a network on these labels, watched where there is a hook, and return it and its accuracy on the test."""
    import torch

    torch.manual_seed(seed)
    model, criterion = _network(torch), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
    # Ever smaller steps, lest the last few decide how good a network is.
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    if hook is not None:
        hook.register_module(model)
        hook.register_loss(criterion)
    targets = torch.from_numpy(labels)
    used = torch.ones(digits.training, dtype=torch.bool) if weights is None else torch.from_numpy(weights > 0)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(EPOCHS):
        order = torch.randperm(digits.training, generator=generator)
        # What is dropped leaves the order of the others as it was.
        order = order[used[order]]
        for rows in torch.split(order, BATCH):
            if hook is not None:
                hook.set_samples(rows.tolist())
            optimizer.zero_grad()
            criterion(model(digits.images[rows]), targets[rows]).backward()
            optimizer.step()
        slower.step()
    model.eval()
    with torch.no_grad():
        answers = model(digits.images[digits.training :]).argmax(1).numpy()
    return model, float((answers == digits.labels[digits.training :]).mean())


def _network(torch: Any) -> Any:
    """A small network of dense layers: many trainings in a few seconds."""
    nn = torch.nn
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def _corrections(model: Any, hook: Any, dataset: Dataset, *, keep_model: bool) -> Overlay:
    """Evaluate the trained network into its run, and return the corrections that its scores vouch for."""
    from cutaway.analysis import Population
    from cutaway.analysis.fixing import choose, make_overlay
    from cutaway.evaluation import evaluate

    evaluate(dataset, model, run=hook, keep_model=keep_model)
    with Population.open(hook.run, subsets=["training"]) as population:
        choice = choose(population.mislabeled())
        held = dict(zip(population.ids, population.table["label"].to_pylist(), strict=True))
    return write_overlay(hook.run, make_overlay("demo", choice.decisions, held, NAMES, truth="ground_truth"))


def _look_at(run: Run) -> None:
    """Make what the page of the population shows, so that nobody who opens it has to wait."""
    from cutaway.analysis import Population
    from cutaway.analysis.population.whole import analyze

    with Population.open(run) as population:
        for _ in analyze(population):
            pass  # each part is kept in the run


def _arrays(digits: Digits, labels: Int64Array) -> Dataset:
    """The training samples alone, for seeds whose run nobody will look at."""
    from cutaway.dataset import Dataset

    return Dataset.from_arrays(digits.images.numpy()[: digits.training], labels, labels=NAMES, channel_dim=1)


@contextmanager
def _overlay(path: Path | None) -> Iterator[None]:
    """Name an overlay in the environment, as `cutaway fix --retrain` does for the training that it starts."""
    before = os.environ.get(OVERLAY_VARIABLE)
    os.environ[OVERLAY_VARIABLE] = str(path)
    try:
        yield
    finally:
        if before is None:
            del os.environ[OVERLAY_VARIABLE]
        else:
            os.environ[OVERLAY_VARIABLE] = before
