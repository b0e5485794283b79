"""Which evaluation of a run is meant, which subsets of it, and which of its latent spaces."""

from __future__ import annotations

from collections.abc import Sequence

from cutaway.errors import EvaluationError, did_you_mean
from cutaway.run.evaluated.answer import answer_of
from cutaway.run.evaluated.population import EvaluatedPopulation
from cutaway.run.evaluations import LATENT, Evaluation, evaluations
from cutaway.run.identity import Run

__all__ = ["chosen_evaluation", "open_evaluated"]


def open_evaluated(
    evaluation: Evaluation,
    *,
    subsets: Sequence[str] | None = None,
    space: str | None = None,
    prediction: str | None = None,
) -> EvaluatedPopulation:
    """Return the population of an evaluation: by default of every subset, in the space that analyses take.

    An empty `space` is none: then there are no latent vectors to ask for.
    """
    chosen = tuple(evaluation.subsets if subsets is None else _known("subset", subsets, evaluation.subsets))
    answer = answer_of(evaluation, prediction)
    if space:
        _known("latent space", [space], evaluation.spaces)
    return EvaluatedPopulation(evaluation, chosen, _default_space(evaluation) if space is None else space, answer)


def chosen_evaluation(run: Run, number: int | None = None) -> Evaluation:
    """Return a finished evaluation of a run, by default the last. Raises where there is none, or it is not ours."""
    there = evaluations(run)
    finished = [one for one in there if one.finished]
    if number is not None:
        found = next((one for one in there if one.number == number), None)
        if found is None:
            listed = ", ".join(str(one.number) for one in there) or "none"
            raise EvaluationError(f"Run {run.name!r} has no evaluation {number}.", hint=f"It has {listed}.")
        if not found.finished:
            raise EvaluationError(
                f"Evaluation {number} of run {run.name!r} is not finished.", hint="Run `cutaway evaluate` again."
            )
        return _as_written(found)
    if not finished:
        began = "an unfinished one: run the same `cutaway evaluate` again" if there else "none: run `cutaway evaluate`"
        raise EvaluationError(f"Analyses need a finished evaluation, and run {run.name!r} has {began}.")
    return _as_written(finished[-1])


def _default_space(evaluation: Evaluation) -> str:
    """Return the latent space that analyses take: one of the user's that is meant for it, else the model's."""
    own = [name for name, about in evaluation.source.spaces.items() if about.use_for_analysis]
    known = evaluation.spaces
    if not known:
        raise EvaluationError(
            f"Evaluation {evaluation.number} has no latent vectors.",
            hint="Evaluate with `latent_layer=`, or `--layer`.",
        )
    return own[0] if own else LATENT if LATENT in known else known[0]


def _as_written(evaluation: Evaluation) -> Evaluation:
    """Return an evaluation whose `source.json` has what Cutaway writes where it does; a run may come from anybody."""
    problem = evaluation.source.problem
    if problem:
        raise EvaluationError(
            f"'source.json' of evaluation {evaluation.number} is not as Cutaway writes it: {problem}.",
            hint="Evaluate again.",
        )
    return evaluation


def _known(word: str, asked: Sequence[str], known: Sequence[str]) -> list[str]:
    for one in asked:
        if one not in known:
            listed = ", ".join(known) or "none"
            raise EvaluationError(
                f"There is no {word} {one!r} here.", hint=f"{did_you_mean(one, known)} There are {listed}."
            )
    return [one for one in known if one in asked]
