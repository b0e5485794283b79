"""The samples of an evaluation as `Samples`, with the `Dynamics` that a hook recorded of them while it trained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.samples import SAMPLE, Samples
from cutaway.analysis.samples.dynamics import Dynamics
from cutaway.arrays import Float32Array, Float64Array, IndexArray
from cutaway.errors import EvaluationError
from cutaway.run import Run
from cutaway.run.evaluated import EvaluatedPopulation
from cutaway.trial.trial import Trial

__all__ = ["read_dynamics", "read_samples"]

# A sample that is drawn more often than this is told of by its first visits: samples are, at most, weighted so.
MOST_VISITS = 200


def read_samples(population: EvaluatedPopulation) -> Samples:
    """Return the samples of an evaluated population, with everything that analyses may ask of them."""
    table, latents = population.table(), population.latents()
    if len(latents) != table.num_rows:
        raise EvaluationError(
            f"Evaluation {population.evaluation.number} has {len(latents):,} latent vectors for {table.num_rows:,} "
            f"samples of {', '.join(population.subsets)}.",
            hint="Evaluate again.",
        )
    classes = population.answer.classes
    dynamics = read_dynamics(population.evaluation.run, table[SAMPLE].to_pylist()) if classes else None
    return Samples(table, latents, classes, population.probabilities(table.num_rows), dynamics, population.hashes())


def read_dynamics(run: Run, ids: Sequence[str]) -> Dynamics | None:
    """Return what the training in a run saw of these samples; None where no values of any of them were recorded."""
    if run.identity.get("kind") == "evaluation":
        return None
    values = Trial(run).sample_values(name=["loss", "margin"])
    # A loop that never says its mode trains, and so does a step that left no record.
    looked = pc.is_in(values["mode"], pa.array(["EVAL", "PREDICT"]))
    values = values.filter(pc.invert(looked))
    rows = pc.index_in(values["sample"], pa.array(ids, pa.string()))
    known = np.asarray(rows.is_valid())
    if not known.any():
        return None
    names = values["name"].filter(pa.array(known))
    row = rows.filter(pa.array(known)).to_numpy().astype(np.intp)
    value = values["value"].filter(pa.array(known)).to_numpy()
    losses, margins = (
        _by_visit(row[chosen], value[chosen], len(ids))
        for chosen in (np.asarray(pc.equal(names, name)) for name in ("loss", "margin"))
    )
    if not len(margins):
        # A loss of no classes has no margin.
        return None
    visits = max(len(losses), len(margins))
    return Dynamics(_padded(losses, visits), _padded(margins, visits))


def _by_visit(rows: IndexArray, values: Float64Array, count: int) -> Float32Array:
    """Return values in step order as (visits, samples): the first of each sample, the second, and so on."""
    order = np.argsort(rows, kind="stable")
    sorted_rows = rows[order]
    begins = np.flatnonzero(np.r_[True, sorted_rows[1:] != sorted_rows[:-1]]) if len(rows) else np.empty(0, np.intp)
    lengths = np.diff(np.r_[begins, len(rows)])
    visit = np.arange(len(rows)) - np.repeat(begins, lengths)
    kept = visit < MOST_VISITS
    table = np.full((int(visit[kept].max(initial=-1)) + 1, count), np.nan, np.float32)
    table[visit[kept], sorted_rows[kept]] = values[order][kept]
    return table


def _padded(table: Float32Array, visits: int) -> Float32Array:
    missing = np.full((visits - len(table), table.shape[1]), np.nan, np.float32)
    return np.concatenate([table, missing])
