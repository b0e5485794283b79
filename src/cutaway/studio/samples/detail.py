"""Everything that is known of a sample without asking the model. Reads what the run keeps; computes next to nothing."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager

from cutaway.errors import CutawayError
from cutaway.studio.answers.errors import presentable
from cutaway.studio.populations import Loaded
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.samples.classes import classes_of
from cutaway.studio.samples.facts import facts_of, rank_of, text_at
from cutaway.studio.samples.finding import row_of
from cutaway.studio.samples.findings import cluster_words, suggestion_of, twins_of
from cutaway.studio.samples.visits import visits_of
from cutaway.studio.wire.sample import SampleDetail, SampleVisits
from cutaway.trial.trial import Trial

__all__ = ["sample_detail"]


def sample_detail(
    loaded: Loaded, previews: SamplePreviews, trial: AbstractContextManager[Trial], sample: str
) -> SampleDetail:
    """Return a sample of a population; refused where there is no such one."""
    row = row_of(loaded, sample)
    label = text_at(loaded, "label", row)
    classes, notes = classes_of(loaded, row, label)
    visits = _visits(trial, sample, notes)
    cluster = loaded.column("cluster")[row].as_py() if "cluster" in loaded.column_names else None
    x, y = _place_on_map(loaded, row)
    return SampleDetail(
        sample=sample,
        row=row,
        subset=text_at(loaded, "subset", row) or "",
        evaluation=loaded.number,
        label=label,
        prediction=text_at(loaded, "prediction", row),
        correct=_yes_or_no(loaded, row),
        loss=_number_at(loaded, "loss", row),
        loss_rank=rank_of(loaded.column("loss"), row) if "loss" in loaded.column_names else None,
        failed=presentable(text_at(loaded, "error", row) or ""),
        classes=classes,
        class_count=len(loaded.classes),
        metadata=facts_of(loaded, row, ("metadata.",)),
        metrics=facts_of(loaded, row, ("metric.", "loss.")),
        visits=visits,
        twins=twins_of(loaded, previews, sample),
        suggestion=suggestion_of(loaded, sample, label),
        cluster=cluster,
        cluster_words=cluster_words(loaded, cluster),
        x=x,
        y=y,
        preview=bool(previews.known(loaded.run, {sample})),
        previous=loaded.ids[row - 1].as_py() if row else None,
        next=loaded.ids[row + 1].as_py() if row + 1 < len(loaded) else None,
        notes=[*notes, *loaded.kept_notes, *_not_analysed(loaded)],
    )


def _visits(trial: AbstractContextManager[Trial], sample: str, notes: list[str]) -> SampleVisits | None:
    try:
        with trial as opened:
            visits, told = visits_of(opened, sample)
    except CutawayError as error:
        # What the training left is damaged; the sample itself can be shown.
        notes.append(presentable(f"What the training saw of it cannot be read: {error}"))
        return None
    notes += told
    return visits


def _place_on_map(loaded: Loaded, row: int) -> tuple[float | None, float | None]:
    placed = next(loaded.maps(), None)
    if placed is None:
        return None, None
    x, y = placed.positions[row].tolist()
    return (x, y) if math.isfinite(x) and math.isfinite(y) else (None, None)


def _number_at(loaded: Loaded, name: str, row: int) -> float | None:
    value = loaded.column(name)[row].as_py() if name in loaded.column_names else None
    return float(value) if isinstance(value, int | float) else None


def _yes_or_no(loaded: Loaded, row: int) -> bool | None:
    value = loaded.column("correct")[row].as_py() if "correct" in loaded.column_names else None
    return value if isinstance(value, bool) else None


def _not_analysed(loaded: Loaded) -> list[str]:
    """Say which analyses would tell more, each with its command."""
    name = loaded.run.name
    wanted = {
        "mislabeled": "Whether its label is right was not analysed",
        "duplicates": "Twins were not looked for",
        "clusters": "Clusters were not looked for",
    }
    return [
        f"{words}: `cutaway analyze {name} {kind}` does that."
        for kind, words in wanted.items()
        if loaded.kept_stamp(kind) is None and (loaded.classes or kind != "mislabeled")
    ]
