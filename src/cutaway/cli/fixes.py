"""Makes the overlay that `cutaway fix` was asked for: from the ranked candidates of a run, or from a person's file."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cutaway.analysis import Population
from cutaway.analysis.fixing import (
    BY_SCORES,
    PRECISION,
    Choice,
    Standing,
    base_overlay,
    choose,
    decided_by_people,
    make_overlay,
    read_decisions,
)
from cutaway.analysis.samples import LABEL
from cutaway.cli.options import user_name
from cutaway.cli.progress import shown_progress
from cutaway.errors import AnalysisUnavailable, ConfigurationError, did_you_mean
from cutaway.run.overlays import Overlay, free_name, overlays, write_overlay

if TYPE_CHECKING:
    from cutaway.run import Run

__all__ = ["FixRequest", "PlannedFix", "make_fix"]


@dataclass(frozen=True)
class FixRequest:
    """What the command was asked to correct."""

    action: str = "relabel"
    precision: float = PRECISION
    subsets: tuple[str, ...] = ("training",)
    from_file: str | None = None
    name: str | None = None
    evaluation: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class PlannedFix:
    """What was decided about a run, and the overlay of it; None where nothing is to be corrected.

    `base` is the overlay that the run was evaluated with, whose corrections this one holds too, and `standing` is what
    people decided, which it leaves as it is.
    """

    run: Run
    evaluation: int
    asked: FixRequest
    choice: Choice
    overlay: Overlay | None
    base: Overlay | None = None
    standing: Standing = field(default_factory=Standing)
    is_new: bool = True


def make_fix(run: Run, asked: FixRequest, *, write: bool) -> PlannedFix:
    """Decide what is corrected and make the overlay, written into the run where that is asked for."""
    with shown_progress("fix") as progress, Population.open(run, evaluation=asked.evaluation) as population:
        origin = population.origin
        if origin is None or not population.samples.has(LABEL):
            reason = origin.answer.reason if origin is not None else ""
            raise AnalysisUnavailable("fix", f"{reason or 'these samples have no label that could be corrected'}.")
        labels = dict(zip(population.ids, population.samples.column(LABEL).to_pylist(), strict=True))
        classes, evaluation = population.samples.classes, origin.evaluation
        digest = evaluation.source.binding.overlay
        base = None if digest is None else base_overlay(run, digest)
        standing = Standing()
        if asked.from_file is not None:
            choice = read_decisions(asked.from_file, labels, classes)
        else:
            _refuse_unknown(asked.subsets, list(origin.subsets))
            table = population.mislabeled(seed=asked.seed, progress=progress)
            held = sum(one is not None and name.partition("/")[0] in asked.subsets for name, one in labels.items())
            standing = decided_by_people(run, base)
            choice = choose(
                table,
                subsets=asked.subsets,
                precision=asked.precision,
                action=asked.action,
                samples=held,
                decided=standing.samples,
            )
    if not choice.decisions:
        return PlannedFix(run, evaluation.number, asked, choice, None, base, standing)
    overlay = make_overlay(
        asked.name or free_name(run),
        choice.decisions,
        labels,
        classes,
        truth=origin.answer.truth or "",
        base=base,
        standing=standing.corrections,
        who=BY_SCORES if asked.from_file is None else user_name("somebody"),
        when=datetime.now(UTC).isoformat(timespec="milliseconds"),
        about=_made_from(run, evaluation.number, asked, standing),
    )
    same = next((one for one in overlays(run) if one.digest == overlay.digest), None) if asked.name is None else None
    if same is not None or not write:
        return PlannedFix(run, evaluation.number, asked, choice, same or overlay, base, standing, is_new=same is None)
    before = {one.name for one in overlays(run)}
    written = write_overlay(run, overlay)
    return PlannedFix(run, evaluation.number, asked, choice, written, base, standing, is_new=written.name not in before)


def _refuse_unknown(asked: tuple[str, ...], known: list[str]) -> None:
    for one in asked:
        if one not in known:
            raise ConfigurationError(
                f"The evaluation has no subset {one!r}.",
                hint=(
                    f"{did_you_mean(one, known)} It has {', '.join(known)}. `cutaway evaluate` evaluates every subset, "
                    "or choose with `--subset`."
                ),
            )


def _made_from(run: Run, evaluation: int, asked: FixRequest, standing: Standing) -> dict[str, object]:
    about: dict[str, object] = {"run": run.name, "run_id": run.id, "evaluation": evaluation, "subsets": asked.subsets}
    if standing.rejected:
        about["rejected"] = [dict(vars(one)) for one in standing.rejected.values()]
    if asked.from_file is not None:
        return {**about, "from": Path(asked.from_file).name}
    return {
        **about,
        "action": asked.action,
        "precision": asked.precision,
        "seed": asked.seed,
    }
