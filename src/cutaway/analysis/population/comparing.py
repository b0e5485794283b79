"""What a population is compared with: another run, or a model file that is evaluated on the same data set first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cutaway.analysis.samples.origin import Origin
from cutaway.errors import AnalysisUnavailable, ConfigurationError, RunNotFound
from cutaway.evaluation import evaluate
from cutaway.evaluation.progress import Listener
from cutaway.run import Run, find_run
from cutaway.run.layout import is_run

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population

__all__ = ["other_population"]


def other_population(origin: Origin | None, other: Run | str | Path, progress: Listener | None = None) -> Population:
    """Return the population of another run, or of another model on the samples of this one."""
    from cutaway.analysis.population.population import Population

    run = other if isinstance(other, Run) else _run_at(other)
    if run is None:
        run = _evaluated(origin, Path(str(other)).expanduser(), progress)
    return Population.open(run, prediction=None if origin is None else _same_prediction(origin, run))


def _run_at(other: str | Path) -> Run | None:
    """Return the run of that name; None where it is a file or folder that is no run: a model."""
    path = Path(other).expanduser()
    if path.exists() and not is_run(path):
        return None
    try:
        return find_run(str(other))
    except RunNotFound as error:
        raise ConfigurationError(
            error.message, hint=f"{error.hint} There is no model file {str(other)!r} either."
        ) from error


def _evaluated(origin: Origin | None, model: Path, progress: Listener | None) -> Run:
    if origin is None:
        raise AnalysisUnavailable(
            "compare",
            "these samples come from arrays, so a model file cannot be asked about them.",
            hint="Compare populations.",
        )
    dataset = origin.reopened().dataset
    return evaluate(dataset, model, subsets=list(origin.subsets), progress=progress).run


def _same_prediction(origin: Origin, run: Run) -> str | None:
    from cutaway.run.evaluations import evaluations

    there = [one for one in evaluations(run) if one.finished]
    names = there[-1].source.predictions.values() if there else ()
    return origin.answer.prediction if origin.answer.prediction in names else None
