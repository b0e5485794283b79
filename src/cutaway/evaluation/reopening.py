"""Opens again what made an evaluation: its data set and its model, checked to be the same, for further questions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset, load_entry
from cutaway.dataset.content import content_hash
from cutaway.dataset.entry import Entry
from cutaway.dataset.entry_settings import SETTINGS_FILE
from cutaway.dataset.enums import Role
from cutaway.errors import BindingError, EvaluationError, ModelError
from cutaway.evaluation.predicting import Predictor
from cutaway.evaluation.subject import Subject, file_digest, open_subject
from cutaway.evaluation.wiring import Wiring, first_sample, shapes_of, wire
from cutaway.models import Limits, Model
from cutaway.run.evaluations import Evaluation
from cutaway.run.layout import is_run

__all__ = ["Reopened", "Sample", "encoded_sample", "model_of", "reopen", "reopen_dataset"]

GIVE_DATASET = "Give the data set again: `Population.open(run, dataset=dataset)`, or `--binding` in the command."


@dataclass(frozen=True)
class Sample:
    """One sample of a data set, encoded anew: its inputs and ground truths by encoder, without a batch axis."""

    id: str
    subset: str
    index: int
    inputs: dict[str, Array]
    ground_truths: dict[str, Array]


@dataclass
class Reopened:
    """The data set and the model of an evaluation. `notes` say what is not as it was."""

    evaluation: Evaluation
    dataset: Dataset
    subject: Subject
    wiring: Wiring
    notes: list[str] = field(default_factory=list)

    @property
    def model(self) -> Model:
        """The model."""
        return self.subject.model

    def sample(self, subset: str, row: int) -> Sample:
        """Encode one sample of a subset, by its row. Raises where its content is no longer what was evaluated."""
        return encoded_sample(self.evaluation, self.dataset, subset, row)

    def batch(self, samples: Sequence[Sample]) -> dict[str, Array]:
        """Return samples as a batch that the model takes."""
        encoded = {name: np.stack([one.inputs[name] for one in samples]) for name in samples[0].inputs}
        return self.batch_of(encoded)

    def batch_of(self, encoded: dict[str, Array]) -> dict[str, Array]:
        """Return what the encoders gave, stacked, as a batch that the model takes."""
        return Predictor(self.model, self.wiring, None).batch_of(encoded)

    def close(self) -> None:
        """Close the model where it was opened here."""
        self.subject.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def encoded_sample(evaluation: Evaluation, dataset: Dataset, subset: str, row: int) -> Sample:
    """Encode one sample of a subset, by its row. Raises where its content is no longer what was evaluated."""
    found = dataset.subsets[subset]
    inputs = {one.name: np.asarray(found.encode(Role.INPUT, one.name, row)) for one in dataset.inputs}
    truths = {}
    if dataset.labelled(subset):
        truths = {one.name: np.asarray(found.encode(Role.GROUND_TRUTH, one.name, row)) for one in dataset.ground_truths}
    held = evaluation.table(subset, ["id", "hash"]).slice(row, 1).to_pylist()[0]
    if held["hash"] not in (None, content_hash(inputs)):
        raise EvaluationError(
            f"{held['id']} is another sample than the one that was evaluated: its content changed.",
            hint="Evaluate again with the data as it is now.",
        )
    return Sample(held["id"], subset, row, inputs, truths)


def reopen(
    evaluation: Evaluation,
    *,
    dataset: Dataset | None = None,
    model: Any = None,
    trust: bool = False,
    limits: Limits | None = None,
) -> Reopened:
    """Open the data set and the model of an evaluation.

    The data set is the binding's again, or the given one where it was made in Python; the model is its file, or the
    copy that was kept of a live one, or the given one.
    """
    if dataset is None:
        data, notes = reopen_dataset(evaluation)
    else:
        data, notes = dataset, []
    _refuse_other_lengths(evaluation, data)
    chosen = model_of(evaluation) if model is None else model
    if chosen is None and data.load_model is None:
        raise ModelError(
            f"Of the model of evaluation {evaluation.number} no copy was kept, since it was given as a loaded one.",
            hint="Give it again with `model=`, or `--model` in the command.",
        )
    subject = open_subject(chosen, data, trust=trust, limits=limits)
    try:
        shapes = shapes_of(first_sample(data))
        wiring = wire(data, subject.model.description, shapes, channels_last=subject.model.channels_last)
    except BaseException:
        subject.close()
        raise
    return Reopened(evaluation, data, subject, wiring, notes)


def _entry(path: Path, digest: str | None) -> Entry:
    """Load a binding as it was loaded for the evaluation: by its file, or by the folder whose `leap.yaml` names it.

    The second also takes the other files that the `leap.yaml` includes into its digest.
    """
    found = load_entry(path)
    settings = path.parent / SETTINGS_FILE
    if digest not in (None, found.digest) and settings.is_file():
        with suppress(BindingError):
            whole = load_entry(settings)
            return whole if whole.path == path and whole.digest == digest else found
    return found


def reopen_dataset(evaluation: Evaluation) -> tuple[Dataset, list[str]]:
    """Open the data set of an evaluation by its binding; the notes say what is not as it was."""
    notes: list[str] = []
    binding = evaluation.source.binding
    entry = binding.entry_file
    if entry is None:
        raise BindingError(
            f"The data set of evaluation {evaluation.number} existed only in memory.",
            hint=GIVE_DATASET,
        )
    if not entry.endswith(".py"):
        # Whatever else a run names is not tried either: an error in it would quote its lines.
        raise BindingError(f"The run names {entry[:200]!r} as its binding, which is no Python file.", hint=GIVE_DATASET)
    path = Path(entry)
    if not path.is_absolute() or _is_of_a_run(path.resolve(), evaluation):
        raise BindingError(f"The run names {entry!r} as its binding, which is not run from there.", hint=GIVE_DATASET)
    if not path.exists() and entry.endswith("/cutaway/cli/demo_binding/leap_binder.py"):
        # Runs of `cutaway demo` name its binding where it stood until it moved.
        path = path.parents[2] / "demo" / "binding" / path.name
    if not path.exists():
        raise BindingError(
            f"The binding {entry!r} that made evaluation {evaluation.number} is gone.",
            hint=f"Bring it back. {GIVE_DATASET}",
        )
    found = _entry(path, binding.digest)
    if binding.digest not in (None, found.digest):
        notes.append(
            f"The binding {Path(entry).name!r} changed since the evaluation; each sample's content is compared."
        )
    dataset = found.dataset()
    if binding.overlay != dataset.source.get("overlay"):
        notes.append(
            "The labels that are read now are not those that were evaluated: CUTAWAY_OVERLAY named "
            f"{'another overlay' if binding.overlay else 'none'} then."
        )
    _refuse_other_lengths(evaluation, dataset)
    return dataset, notes


def _is_of_a_run(path: Path, evaluation: Evaluation) -> bool:
    """Whether a file came with a run, this one or another: one from somebody else must not choose which code runs."""
    own = evaluation.run.path.resolve()
    return path.is_relative_to(own) or any(map(is_run, path.parents))


def model_of(evaluation: Evaluation) -> Any:
    """Return the file of an evaluation's model, checked to be the same; None where its binding makes it."""
    about = evaluation.source.model
    if evaluation.kept_model is not None:
        return evaluation.kept_model
    if about.file:
        path = Path(about.file)
        if not path.exists():
            raise ModelError(
                f"The model {str(path)!r} is gone.",
                hint="Give it again with `model=`, or `--model` in the command.",
                path=path,
            )
        if about.sha256 not in ("", file_digest(path)):
            raise ModelError(
                f"The model {str(path)!r} is no longer the one that was evaluated.",
                hint="Evaluate it again, or give the old one with `model=`, or `--model` in the command.",
                path=path,
            )
        return path
    if about.not_kept:
        raise ModelError(f"{about.not_kept} Use `model=`, or `--model` in the command.")
    # The binding's own model, made anew by its function.
    return None


def _refuse_other_lengths(evaluation: Evaluation, dataset: Dataset) -> None:
    for name, about in evaluation.source.subsets.items():
        found = len(dataset.subsets[name]) if name in dataset.subsets else 0
        if about.samples not in (None, found):
            raise BindingError(
                f"The data set has {found} {name} samples, but {about.samples} were evaluated.",
                hint="Evaluate again with the data as it is now.",
            )
