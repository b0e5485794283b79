"""Everything about a population but its points: its evaluations, its columns, and what was analysed of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.population.applicability import analysis_named, what_applies
from cutaway.analysis.population.names import file_name
from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SUBSET, Samples
from cutaway.analysis.samples.held_out import VALIDATION, judged_subsets
from cutaway.run.analyses import is_analysed
from cutaway.run.evaluated.columns import ERROR
from cutaway.run.evaluated.kept import MAP
from cutaway.run.evaluations import Evaluation, evaluations
from cutaway.run.selections import selections
from cutaway.run.sources import Source
from cutaway.studio.answers.plain import number_or_none, text
from cutaway.studio.populations.derived import has_probabilities
from cutaway.studio.populations.described import described_columns, looked_at
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.populations.the_populations import Scores
from cutaway.studio.previews import has_pictures
from cutaway.studio.wire.population import (
    AnalysisRow,
    EvaluationRow,
    PopulationColumn,
    PopulationDetail,
    SubsetScore,
)

__all__ = ["population_detail"]


def population_detail(loaded: Loaded, scores: Scores) -> PopulationDetail:
    """Return what there is to know about a population."""
    columns = described_columns(loaded)
    maps = list(loaded.maps())
    shown = maps[0] if maps else None
    clusters = loaded.kept("clusters")
    errors = next((one for one in columns if one.name == ERROR), None)
    return PopulationDetail(
        evaluation=loaded.number,
        evaluations=[_evaluation_row(one, loaded, scores) for one in evaluations(loaded.run)],
        samples=len(loaded),
        failed=0 if errors is None else len(loaded) - errors.missing,
        subsets=loaded.counts,
        classes=[text(one) for one in loaded.classes],
        confusion_metrics=[text(one) for one in loaded.population.confusion_metrics],
        space=text(loaded.space),
        spaces=[text(one) for one in loaded.evaluation.spaces],
        columns=columns,
        looked_at=looked_at(loaded),
        maps=[one.method for one in maps],
        trustworthiness=None if shown is None else shown.trustworthiness,
        map_notes=[] if shown is None else [text(one) for one in shown.notes],
        analyses=_analyses(loaded, columns, has_map=shown is not None),
        clusters=None if clusters is None else _count(clusters.table["cluster"]),
        previews=has_pictures(loaded.run),
        notes=_notes(loaded),
    )


def _count(clusters: Any) -> int:
    return len([one for one in clusters.unique().to_pylist() if one is not None and one >= 0])


def _notes(loaded: Loaded) -> list[str]:
    notes = [*loaded.kept_notes, *selections(loaded.run).notes]
    gone = [text(name) for name in loaded.evaluation.source.subsets if name not in loaded.subsets]
    if gone:
        notes.append(f"The table of {', '.join(gone)} is missing from evaluation {loaded.number}. Evaluate again.")
    if loaded.repeated_ids:
        notes.append(f"{loaded.repeated_ids:,} ids belong to two samples each; a link opens the first.")
    reason = loaded.population.answer.reason
    if reason:
        notes.append(f"There are no labels and predictions to show: {reason}.")
    return notes


def _analyses(loaded: Loaded, columns: Sequence[PopulationColumn], *, has_map: bool) -> list[AnalysisRow]:
    def is_made(analysis: str) -> bool:
        # Not looked for again: a map that a job keeps meanwhile would be made here and missing above.
        return has_map if analysis == "map" else loaded.is_made(file_name(analysis))

    return [
        AnalysisRow(analysis=one.analysis, made=is_made(one.analysis), applies=one.applies, reason=one.reason)
        for one in what_applies(_outline(loaded, columns), loaded.population)
        if not analysis_named(one.analysis).asked_alone
    ]


def _outline(loaded: Loaded, columns: Sequence[PopulationColumn]) -> Samples:
    """Return samples as far as it takes to say what applies to them. Neither vectors nor most columns are read.

    Each has a vector of its own, NaN where it failed; whether one overflowed is seen when an analysis is made.
    """
    rows, classes = len(loaded), loaded.classes
    missing = {one.name: one.missing for one in columns}
    table = {name: loaded.column(name) for name in (SUBSET, LABEL) if name in loaded.own_columns}
    # Of the others only whether there is any value is asked.
    for name in loaded.own_columns:
        if name in (PREDICTION, CORRECT, LOSS) or name.startswith("metric."):
            table[name] = pa.repeat(pa.scalar(True if missing[name] < rows else None, pa.bool_()), rows)
    latents = np.arange(rows, dtype=np.float32)[:, None]
    latents[: rows - missing[ERROR] if loaded.space else rows] = np.nan
    likely = np.broadcast_to(np.float32(0), (rows, len(classes))) if has_probabilities(loaded) else None
    hashes = (None,) * rows if "hash" in loaded.population.file_columns else None
    return Samples(pa.table(table), latents, classes, likely, None, hashes)


def _evaluation_row(evaluation: Evaluation, loaded: Loaded, scores: Scores) -> EvaluationRow:
    source, about = evaluation.source, evaluation.source.model
    # Of the one that is looked at, from the columns that it holds.
    each = _scores(source, scores.accuracies(evaluation, loaded if evaluation.number == loaded.number else None))
    judged = _judged(each)
    subsets = {text(name): one.samples or 0 for name, one in source.subsets.items()}
    return EvaluationRow(
        number=evaluation.number,
        created=_time(source.time),
        finished=source.finished,
        # Of its file the last part alone.
        model=text(PurePath(about.file).name or about.class_name or about.format),
        samples=sum(subsets.values()),
        subsets=subsets,
        spaces=[text(one) for one in evaluation.spaces],
        scores=each,
        judged="" if judged is None else judged.subset,
        accuracy=None if judged is None else judged.accuracy,
        loss=None if judged is None else judged.loss,
        has_map=is_analysed(evaluation, MAP),
    )


def _scores(source: Source, accuracies: Mapping[str, float]) -> list[SubsetScore]:
    return [
        SubsetScore(
            subset=text(name),
            samples=one.samples or 0,
            accuracy=accuracies.get(name),
            loss=number_or_none(one.means.get("loss")),
        )
        for name, one in source.subsets.items()
    ]


def _judged(scores: Sequence[SubsetScore]) -> SubsetScore | None:
    """Return the subset that an evaluation is judged by where one figure must do: validation, or else another."""
    known = {one.subset: one for one in scores if one.accuracy is not None or one.loss is not None}
    names = judged_subsets(known) or tuple(known)
    return known[VALIDATION if VALIDATION in names else names[0]] if names else None


def _time(told: Any) -> float | None:
    try:
        return datetime.fromisoformat(told).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None
