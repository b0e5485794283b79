"""What the demo saw of its training, and what rules say of it: read back from the run folder, as any other process
would.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import Float64Array
from cutaway.run import run_sizes
from cutaway.run.schemas import VALUES
from cutaway.trial import create_trial
from cutaway.trial.run_totals import RunTotals, ScalarFacts

if TYPE_CHECKING:
    from cutaway.demo.training import Trained
    from cutaway.run import Run
    from cutaway.trial.summary import Facts

__all__ = ["what_it_saw", "what_rules_say"]

GRADIENT = "gradient/"
HARDEST = 4


def what_it_saw(trained: Trained) -> Facts:
    """Read the run back and return what is worth telling."""
    trial = create_trial(str(trained.run.path))
    statistics, totals = trial.statistics(), RunTotals(trained.run)
    totals.poll()
    gradients = _gradients(statistics)
    return {
        "run": trained.run.name,
        "path": trained.run.path,
        "steps": len(trial.step_table()),
        "loss": _scalar(totals.facts(), "loss", "TRAIN"),
        "accuracy": _scalar(totals.facts(), "accuracy", "EVAL"),
        "gradients": {"largest": gradients[0], "smallest": gradients[-1]},
        "zeros": _zeros(statistics),
        "statistics_rows": len(statistics),
        "bytes": sum(run_sizes(trained.run).values()),
        "cost": asdict(trained.cost),
        "hardest": _hardest(trained),
    }


def what_rules_say(run: Run) -> Facts:
    """Let all rules look at a finished run, as `cutaway watch` does, and return how it is."""
    from cutaway.rules.health import health_of
    from cutaway.rules.making import rule_recipes
    from cutaway.rules.watcher import Watcher
    from cutaway.run.watches import Status
    from cutaway.trial import Trial

    trial = Trial(run)
    with Watcher(trial, [recipe.make(trial) for recipe in rule_recipes()]) as watcher:
        last = list(watcher.looks(follow=False))[-1]
    looked = sum(one.status in (Status.SILENT, Status.FIRED) for one in last.watched)
    return {
        "path": run.path,
        "rules": len(last.watched),
        "looked": looked,
        "health": health_of(run, last.state).to_dict(),
    }


def _gradients(statistics: pa.Table) -> list[Facts]:
    """Return each parameter with the median l2 norm of its gradient, the largest first."""
    rows = statistics.filter(pc.starts_with(statistics["tensor"], GRADIENT))
    grouped = rows.group_by("tensor").aggregate([("l2", "approximate_median")])
    found = [
        {"tensor": name.removeprefix(GRADIENT), "l2": norm}
        for name, norm in zip(grouped["tensor"].to_pylist(), grouped["l2_approximate_median"].to_pylist(), strict=True)
    ]
    return sorted(found, key=lambda one: -one["l2"])


def _zeros(statistics: pa.Table) -> Facts:
    """Return the gradient of which most was exactly zero, over all steps."""
    rows = statistics.filter(pc.starts_with(statistics["tensor"], GRADIENT))
    sums = rows.group_by("tensor").aggregate([("zeros", "sum"), ("size", "sum")]).to_pylist()
    shares = {row["tensor"].removeprefix(GRADIENT): row["zeros_sum"] / max(row["size_sum"], 1) for row in sums}
    most = max(shares, key=lambda name: shares[name])
    return {"tensor": most, "share": shares[most]}


def _hardest(trained: Trained) -> list[Facts]:
    """Return the training samples with the highest loss over the second half of the training."""
    values = trained.run.table(VALUES).read()
    values = values.filter(pc.equal(values["name"], "loss"))
    late = values.filter(pc.greater_equal(values["step"], pc.divide(pc.max(values["step"]), 2)))
    means = late.group_by("sample").aggregate([("value", "mean")])
    losses: Float64Array = means["value_mean"].to_numpy()
    found = []
    for i in np.argsort(-losses)[:HARDEST]:
        sample = means["sample"][int(i)].as_py()
        index = int(sample.partition("/")[2])
        guess = {"label": trained.labels[index], "prediction": trained.predictions[index]}
        found.append({"sample": sample, "loss": float(losses[i]), **guess})
    return found


def _scalar(scalars: list[ScalarFacts], name: str, mode: str) -> Facts:
    return next(one._asdict() for one in scalars if (one.name, one.mode) == (name, mode))
