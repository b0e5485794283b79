"""The model of an evaluation, however it was given, what `source.json` says of it, and the copy that is kept of a
live one.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cutaway import registry
from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.calling import Failed, call_theirs
from cutaway.dataset.enums import Role
from cutaway.errors import BindingError, CutawayError, EncoderError, ModelError
from cutaway.evaluation.channels import channels_of
from cutaway.models import Limits, Model, load
from cutaway.models.loading import needs_example
from cutaway.run.evaluations import Evaluation

__all__ = ["Subject", "file_digest", "keep_model", "lacks_file", "open_subject"]

log = logging.getLogger("cutaway.evaluation")

# A live module that declares no shapes gets them from a first batch: two rows show which axis counts the samples.
EXAMPLE_ROWS = 2
NO_FILE = ("file not found", "no such file", "file doesn't exist", "file does not exist")
FROM_HERE = "A relative path counts from the folder that you are in; `Path(__file__).parent` is the binding's own."
COST = "Heat maps and other questions to the model will need it to be given again."


@dataclass
class Subject:
    """A model that is evaluated. `live` is the user's own object; `opened` says that we opened it, and have to close.

    `about` is for `source.json`: the file and its digest, or what kind of object it was.
    """

    model: Model
    about: dict[str, Any] = field(default_factory=dict)
    live: Any = None
    opened: bool = False

    def close(self) -> None:
        """Close what was opened here."""
        if self.opened:
            self.model.close()


def open_subject(given: Any, dataset: Dataset, *, trust: bool = False, limits: Limits | None = None) -> Subject:
    """Open a model file, wrap a live object, or take a `Model` as it is; None means the binding's own."""
    if isinstance(given, Subject):
        return given
    if isinstance(given, Model):
        return Subject(given, _about_model(given))
    if given is None:
        given = _of_binding(dataset)
        if isinstance(given, Model):
            return Subject(given, _about_model(given), opened=True)
    if isinstance(given, str | os.PathLike):
        path = Path(os.fsdecode(given))
        entry = dataset.source.get("entry_file") if dataset.custom_layers else None
        model = load(path, trust=trust, limits=limits, entry_file=entry)
        about = {**_about_model(model), "file": str(path.absolute()), "sha256": file_digest(path)}
        return Subject(model, about, opened=True)
    model = _live(given, dataset) or load(given, trust=trust, limits=limits)
    return Subject(model, _about_model(model), live=given, opened=True)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder: of the names and digests of its files."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    whole = hashlib.sha256()
    for inner in sorted(one for one in path.rglob("*") if one.is_file()):
        whole.update(f"{inner.relative_to(path).as_posix()}\0{file_digest(inner)}\n".encode())
    return whole.hexdigest()


def _about_model(model: Model) -> dict[str, Any]:
    plain = {name: value for name, value in model.description.about.items() if isinstance(value, str | int | float)}
    return {"format": model.description.format, **plain}


def _of_binding(dataset: Dataset) -> Any:
    if dataset.load_model is None:
        raise BindingError(
            "No model was given, and the binding brings none.",
            hint="Give a model file, or decorate a function that returns the model with `@tensorleap_load_model`.",
        )
    try:
        return call_theirs(dataset.load_model)
    except Failed as failure:
        hint = f". {FROM_HERE}" if lacks_file(failure.__cause__) else ""
        reason = failure.reason.rstrip(".") if hint else failure.reason
        raise ModelError(f"{failure.place}: the binding's model could not be loaded: {reason}{hint}") from failure


def lacks_file(error: BaseException | None) -> bool:
    """Whether an error says that a file is not there; frameworks say so with classes of their own."""
    return isinstance(error, FileNotFoundError) or any(words in str(error).lower() for words in NO_FILE)


def _live(given: Any, dataset: Dataset) -> Model | None:
    """Wrap a live object that shows its shapes only to an example; None for objects that need none."""
    if not needs_example(given):
        return None
    error: Exception | None = None
    for example in _examples(dataset):
        try:
            return load(given, example=example)
        except Exception as failure:  # noqa: BLE001 - a live model may raise anything; the other order of axes is next
            error = error or failure
    if isinstance(error, ModelError):
        raise error
    message = f"The model fails on the first samples of the data set: {type(error).__name__}: {error}"
    raise ModelError(f"{message}{_given_to(dataset)}") from error


def _given_to(dataset: Dataset) -> str:
    """Say what a live model was given, and what to do about whole numbers, which most models take for scaled ones."""
    first = _first_rows(dataset)[0]
    given = ", ".join(f"{name!r} {values.shape} {values.dtype}" for name, values in first.items())
    whole = [name for name, values in first.items() if values.dtype == np.uint8]
    hint = f" Scale {whole[0]!r} to float32 in the data set, as in the training." if whole else ""
    return f". Its samples are {given}.{hint}"


def _examples(dataset: Dataset) -> list[list[Array]]:
    """Return a first batch as it is, then with its channels first where the encoders have them last.

    A live module declares nothing, and one that flattens its input takes either: only what it refuses as it is may be
    moved.
    """
    rows = _first_rows(dataset)
    as_is = [np.stack([row[one.name] for row in rows]) for one in dataset.inputs]
    turned = [
        np.ascontiguousarray(np.moveaxis(values, -1, 1))
        if channels_of(one.channel_dim, values.ndim - 1) == "last"
        else values
        for one, values in zip(dataset.inputs, as_is, strict=True)
    ]
    same = all(a is b for a, b in zip(as_is, turned, strict=True))
    return [as_is] if same else [as_is, turned]


def _first_rows(dataset: Dataset) -> list[Mapping[str, Array]]:
    first: EncoderError | None = None
    for subset in dataset.subsets.values():
        rows: list[Mapping[str, Array]] = []
        for index in range(min(len(subset), 20)):
            try:
                rows.append({one.name: subset.encode(Role.INPUT, one.name, index) for one in dataset.inputs})
            except EncoderError as error:
                first = first or error
            if len(rows) == EXAMPLE_ROWS and _shapes(rows[0]) == _shapes(rows[1]):
                return rows
        if rows:
            return [rows[0]] * EXAMPLE_ROWS
    raise first or BindingError("The data set has no samples.", hint="Let its preprocess function return at least one.")


def _shapes(row: Mapping[str, Array]) -> list[tuple[int, ...]]:
    return [values.shape for values in row.values()]


def keep_model(subject: Subject, evaluation: Evaluation, batch: Mapping[str, Array]) -> dict[str, Any]:
    """Return what `source.json` says of the copy of a live model: where it lies, or why there is none.

    `batch` is one that the model takes, by the names of its inputs.
    """
    if subject.live is None:
        return {}
    package = _package_of(subject.live)
    if package is None:
        return _not_kept(f"nobody knows how to export a {type(subject.live).__name__}.")
    try:
        kept = registry.load("model_keepers", package)(subject.live, dict(batch), evaluation.path)
    except (CutawayError, OSError) as error:
        return _not_kept(str(error))
    if kept.path is None:
        return _not_kept(kept.reason)
    return {"kept": kept.path.name, "kept_format": kept.format, "kept_notes": list(kept.notes)}


def _not_kept(reason: str) -> dict[str, Any]:
    log.warning("No copy of the model was kept: %s %s", reason, COST)
    return {"kept": None, "not_kept": f"{reason} {COST}"}


def _package_of(live: object) -> str | None:
    """The package of the nearest class of an object whose models can be kept."""
    known = registry.names("model_keepers")
    packages = (kind.__module__.partition(".")[0] for kind in type(live).__mro__)
    return next((package for package in packages if package in known), None)
