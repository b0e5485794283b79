"""What a job does, in its own process: analyse an evaluation, evaluate once more, or compare with another run.

Nothing here is chosen by a file of the run but which of these three: analyses are named by us, and what an evaluation
opens again follows the rules of `cutaway.evaluation.reopening`.
"""

from __future__ import annotations

import logging
from pathlib import Path

from cutaway.analysis.population.applicability import analyses
from cutaway.analysis.population.population import Population
from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.population.whole import analyze
from cutaway.errors import AnalysisUnavailable, ConfigurationError, StorageError
from cutaway.evaluation import evaluate
from cutaway.evaluation.reopening import reopen
from cutaway.run.evaluated import chosen_evaluation
from cutaway.run.identity import Run
from cutaway.run.jobs import Job
from cutaway.studio.flips import keep_comparison
from cutaway.studio.jobs.telling import Teller

__all__ = ["do"]

log = logging.getLogger("cutaway.jobs")


def do(run: Run, job: Job, teller: Teller, other: Path | None) -> None:
    """Do what a job asks for; what cannot be done raises, with the reason."""
    if job.kind == "analyze":
        _analyze(run, job, teller)
    elif job.kind == "evaluate":
        _evaluate(run, job, teller)
    elif other is not None:
        _compare(run, job, teller, other)
    else:
        raise ConfigurationError("A comparison needs another run.", hint="Give one.")


def _analyze(run: Run, job: Job, teller: Teller) -> None:
    teller.begin("reading samples")
    with Population.open(run, evaluation=job.evaluation) as population:
        stages = [job.what] if job.what else _stages()
        teller.begin(stages[0])
        for number, part in enumerate(analyze(population, only=job.what or None, progress=teller.listen), 1):
            _write_down(part)
            if part.reason and job.what:
                raise AnalysisUnavailable(job.what, f"{part.reason}.")
            if number < len(stages):
                teller.begin(stages[number])
        _require_kept(population)


def _stages() -> list[str]:
    """Return what each analysis is called while it is made, in the order in which `analyze` makes them."""
    names = [one.name for one in analyses() if not one.asked_alone]
    return [f"{name} ({number} of {len(names)})" for number, name in enumerate(names, 1)]


def _evaluate(run: Run, job: Job, teller: Teller) -> None:
    teller.begin("opening the data set and the model")
    earlier = chosen_evaluation(run, job.evaluation)
    options = earlier.source.options
    with reopen(earlier) as opened:
        for note in opened.notes:
            log.info("%s", note)
        teller.begin("evaluating")
        found = evaluate(
            opened.dataset,
            opened.subject,
            run,
            epoch=_integer_or_none(options.get("epoch")),
            batch_size=_integer_or_none(options.get("batch_size")) or 64,
            latent_layer=options.get("latent_layer"),
            loss=options.get("loss"),
            metrics=options.get("metrics"),
            subsets=list(earlier.source.subsets) or None,
            progress=teller.listen,
        )
    log.info("Evaluation %d is finished.", found.number)


def _compare(run: Run, job: Job, teller: Teller, other: Path) -> None:
    teller.begin("reading samples")
    with Population.open(run, evaluation=job.evaluation) as before, Population.open(other) as after:
        teller.begin("comparing")
        found = before.comparison(after, progress=teller.listen)
        for line in (*found.words, *found.notes):
            log.info("%s", line)
        if before.origin is None or after.origin is None:
            raise ConfigurationError("Only evaluations of runs are compared here.")
        _require_kept(before, after)
        keep_comparison(before.origin.evaluation, after.origin.evaluation, found)


def _write_down(part: AnalysisResult) -> None:
    log.info("%s: %s", part.analysis, f"does not apply: {part.reason}" if part.reason else "done")
    for line in (*part.words, *part.notes):
        log.info("  %s", line)


def _integer_or_none(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _require_kept(*populations: Population) -> None:
    """Raise where something could not be kept: a warning to who asks in a terminal, but all that a job is for."""
    for population in populations:
        if population.origin is not None and population.origin.unkept:
            raise StorageError(str(population.origin.unkept[0]))
