"""Everything that is known of a sample without asking the model. Reads what the run keeps; computes next to nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pyarrow as pa

from cutaway.errors import CutawayError
from cutaway.studio.answers.errors import presentable
from cutaway.studio.answers.plain import number_or_none
from cutaway.studio.populations import Loaded
from cutaway.studio.populations.cluster_rows import words_of_clusters
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.samples.classes import classes_of
from cutaway.studio.samples.facts import facts_of, rank_of, row_of, text_at, value_at
from cutaway.studio.samples.findings import suggestion_of, twins_of
from cutaway.studio.wire.sample import SampleDetail, SampleVisits
from cutaway.trial.trial import Trial

__all__ = ["sample_detail", "visits_of"]

MOST_VISITS = 2_000


def sample_detail(
    loaded: Loaded, previews: SamplePreviews, trial: AbstractContextManager[Trial], sample: str
) -> SampleDetail:
    """Return a sample of a population; refused where there is no such one."""
    row = row_of(loaded, sample)
    label = text_at(loaded, "label", row)
    classes, notes = classes_of(loaded, row, label)
    visits = _visits(trial, sample, notes)
    cluster = value_at(loaded, "cluster", row)
    placed = next(loaded.maps(), None)
    x, y = (None, None) if placed is None else placed.positions[row].tolist()
    return SampleDetail(
        sample=sample,
        row=row,
        subset=text_at(loaded, "subset", row) or "",
        evaluation=loaded.number,
        label=label,
        prediction=text_at(loaded, "prediction", row),
        correct=value_at(loaded, "correct", row),
        loss=number_or_none(value_at(loaded, "loss", row)),
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
        cluster_words="" if cluster is None else words_of_clusters(loaded).get(cluster, ""),
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
        notes.append(presentable(f"Its losses during training cannot be read: {error}"))
        return None
    notes += told
    return visits


def visits_of(trial: Trial, sample: str) -> tuple[SampleVisits | None, list[str]]:
    """Return the losses that the hook saved of a sample, in step order; None where none. Of very many, even ones."""
    if trial.run.identity.get("kind") == "evaluation":
        return None, []
    values = trial.sample_values(sample=sample, name="loss")
    count = values.num_rows
    if not count:
        return None, []
    notes = []
    if count > MOST_VISITS:
        step = -(-count // MOST_VISITS)
        values = values.take(pa.array(range(0, count, step)))
        notes.append(f"The training saw this sample {count:,} times; one in {step} is shown.")
    steps = values["step"].to_pylist()
    return SampleVisits(
        steps=steps,
        epochs=_epochs(trial, steps),
        losses=values["value"].to_pylist(),
        mode=[one or "TRAIN" for one in values["mode"].to_pylist()],
    ), notes


def _epochs(trial: Trial, steps: list[int]) -> list[int | None]:
    columns = trial.step_columns()
    if "epoch" not in columns:
        return [None] * len(steps)
    by_step = dict(zip(columns["step"].tolist(), columns["epoch"].tolist(), strict=True))
    return [by_step.get(one) if (by_step.get(one) or 0) >= 0 else None for one in steps]


def _not_analysed(loaded: Loaded) -> list[str]:
    """Say which analyses would tell more, each with its command."""
    name = loaded.run.name
    wanted = {
        "mislabeled": "Its label has not been checked yet",
        "duplicates": "Duplicates have not been looked for yet",
        "clusters": "Clusters have not been looked for yet",
    }
    return [
        f"{words}: run `cutaway analyze {name} {kind}`."
        for kind, words in wanted.items()
        if loaded.kept_stamp(kind) is None and (loaded.classes or kind != "mislabeled")
    ]
