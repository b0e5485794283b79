"""What the forked processes do that analyse a run. Each gets a function that reports a number to the test."""

from __future__ import annotations

import time

from cutaway.dataset import Dataset
from cutaway.errors import RunLocked
from cutaway.evaluation import Progress, evaluations, layer_vectors
from cutaway.evaluation import evaluate as evaluate_all
from cutaway.evaluation.reopening import reopen
from cutaway.run import Run
from tests.faults.jobs import LOST, Report
from tests.unit.evaluation.linear_model import linear_model, samples

__all__ = ["SIZES", "add_layer", "analyze", "evaluate", "warm_up"]

SIZES = {"training": 240, "validation": 80}


def warm_up() -> None:
    """Import what is slow to import. Nothing is computed: threads do not survive a fork."""
    import scipy.sparse.linalg
    import sklearn.cluster
    import torch

    import cutaway.analysis

    assert all((scipy.sparse.linalg, sklearn.cluster, torch, cutaway.analysis))


def dataset() -> Dataset:
    parts = []
    for seed, (name, count) in enumerate(SIZES.items()):
        x, y = samples(count, seed)
        parts.append(Dataset.from_arrays({"x": x}, {"y": y}, metadata={"n": list(range(count))}, subset=name))
    return Dataset.join(*parts)


def evaluate(report: Report, path: str) -> None:
    """Evaluate into a run."""
    evaluate_all(dataset(), linear_model(), Run.open(path), batch_size=16)
    report(sum(SIZES.values()))


def analyze(report: Report, path: str) -> None:
    """Analyse everything; report each step of the way, and each part that is done."""
    import torch

    from cutaway.analysis import Population
    from cutaway.analysis import analyze as analyze_all

    torch.set_num_threads(1)
    report(0)
    for number, _ in enumerate(analyze_all(Population.open(path), progress=lambda _: report(0)), 1):
        report(number)


def add_layer(report: Report, path: str, pace: float = 0.01) -> None:
    """Add the latent space of a layer, kept after every batch; report how many samples have their vector."""
    layer_vectors.KEEP_SECONDS, layer_vectors.BATCH = 0.0, 16
    [evaluation] = evaluations(Run.open(path))

    def tell(progress: Progress) -> None:
        time.sleep(pace)
        report(progress.done)

    with reopen(evaluation, dataset=dataset(), model=linear_model()) as reopened:
        try:
            layer_vectors.add_layer_space(reopened, ["twice"], progress=tell)
        except RunLocked:
            report(LOST - 1)
