"""The samples of an evaluation as `Samples`: the columns that analyses know, and latent vectors of one space."""

from __future__ import annotations

from cutaway.analysis.samples import SAMPLE, Samples
from cutaway.analysis.samples.run_dynamics import read_dynamics
from cutaway.errors import EvaluationError
from cutaway.run.evaluated import EvaluatedPopulation

__all__ = ["read_samples"]


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
