"""Overlays of a run, `overlays/<name>.parquet`: accepted corrections of samples, beside the data that they correct.

Knows the format, and what makes two overlays the same. Applies nothing: the data themselves are never touched, and an
overlay that is taken back is only moved aside, so that everything is as it was before.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from cutaway.errors import ConfigurationError, OverlayError, StorageError, did_you_mean
from cutaway.run.command_words import run_word
from cutaway.run.identity import Run
from cutaway.run.layout import OVERLAYS, UNDONE_OVERLAYS
from cutaway.run.tables import UNREADABLE_TABLE
from cutaway.run.whole_files import sweep_dead, whole_file

__all__ = [
    "DROP",
    "FIELDS",
    "LABEL",
    "OVERLAY_VARIABLE",
    "WEIGHT",
    "Correction",
    "Overlay",
    "environment_overlay",
    "find_overlay",
    "free_name",
    "overlay_path",
    "overlays",
    "read_overlay",
    "replace_overlay",
    "undo_overlay",
    "undone_overlays",
    "write_overlay",
]

OVERLAY_VARIABLE = "CUTAWAY_OVERLAY"
# What a correction changes: which class, how much a sample counts, or whether it is used at all.
LABEL, WEIGHT, DROP = "label", "weight", "drop"
FIELDS = (LABEL, WEIGHT, DROP)
FORMAT = 1
# A file that is larger is not one of ours: a correction takes some dozen bytes.
MOST_BYTES = 1 << 30

_ABOUT = b"cutaway"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_SUBSETS = ("training", "validation", "test", "unlabeled")
_SCHEMA = pa.schema(
    {
        "sample": pa.string(),
        "field": pa.string(),
        "old": pa.string(),
        "new": pa.string(),
        "score": pa.float64(),
        "reason": pa.string(),
        "who": pa.string(),
        "when": pa.string(),
    }
)


@dataclass(frozen=True)
class Correction:
    """One change of one sample: of its `label` (classes by name), its `weight` (from "1"), or `drop` ("no" to "yes").

    `score` is the probability that the change is right, where one is known; `who` decided it and `when`.
    """

    sample: str
    field: str
    old: str
    new: str
    score: float | None = None
    reason: str = ""
    who: str = ""
    when: str = ""

    @property
    def subset(self) -> str:
        """The subset of the sample."""
        return self.sample.partition("/")[0]


@dataclass(frozen=True)
class Overlay:
    """Corrections of the samples of one data set, in the order in which they were decided.

    `classes` are the names of the classes in their order, so that a loop that holds numbers finds its own; `truth` is
    the ground truth that they are classes of. `about` says where it comes from: run, evaluation, settings.
    """

    name: str
    classes: tuple[str, ...]
    corrections: tuple[Correction, ...]
    truth: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise OverlayError(str(self.path or self.name), problem)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what it does: the same corrections give the same digest, whoever decided them and when."""
        rows = sorted((one.sample, one.field, one.old, one.new) for one in self.corrections)
        whole = json.dumps([FORMAT, self.truth, self.classes, rows], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def counts(self) -> dict[str, int]:
        """How many corrections there are of each field."""
        found = Counter(one.field for one in self.corrections)
        return {name: found[name] for name in FIELDS if found[name]}

    def of(self, subset: str, *fields: str) -> dict[str, Correction]:
        """Return the corrections of some fields in a subset, by full sample id; of several the last field stands."""
        chosen = [one for one in self.corrections if one.subset == subset]
        return {one.sample: one for name in fields for one in chosen if one.field == name}

    def table(self) -> pa.Table:
        """Return the corrections as rows."""
        names = _SCHEMA.names
        columns = {name: [getattr(one, name) for one in self.corrections] for name in names}
        return pa.table(columns, schema=_SCHEMA)


def overlay_path(run: Run, name: str) -> Path:
    """Return where an overlay of a run lies. Raises for a name that is no plain file name."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"An overlay's name has letters, digits, '_', '.' and '-', at most 64, and begins with none of the last "
            f"two, but got {name!r}."
        )
    return run.path / OVERLAYS / f"{name}.parquet"


def write_overlay(run: Run, overlay: Overlay) -> Overlay:
    """Write an overlay whole into a run, and return it with its path; one that is there is never replaced."""
    path = overlay_path(run, overlay.name)
    if path.exists():
        there = read_overlay(path)
        if there.digest == overlay.digest:
            return there
        raise OverlayError(
            str(path),
            f"run {run.name!r} already has an overlay {overlay.name!r} with other corrections.",
            hint="Give another `--name`, or take that one back first with `--undo`.",
        )
    return replace_overlay(path, overlay)


def replace_overlay(path: Path, overlay: Overlay) -> Overlay:
    """Write an overlay whole at a path, and return it; one that is there is replaced, by whoever may say so."""
    import pyarrow.parquet as pq

    about = {"format": FORMAT, "truth": overlay.truth, "classes": list(overlay.classes), "about": dict(overlay.about)}
    table = overlay.table().replace_schema_metadata({_ABOUT: json.dumps(about, default=str)})
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep_dead(path.parent)
    with whole_file(path) as beside:
        pq.write_table(table, beside, compression="zstd", write_page_checksum=True)
    return read_overlay(path)


def read_overlay(path: Path | str) -> Overlay:
    """Read an overlay from any path. Raises `OverlayError` where it is missing, damaged, or not one of ours."""
    import pyarrow.parquet as pq

    file = Path(path).expanduser()
    if not file.is_file():
        raise OverlayError(str(path), "there is no such file.", hint="`cutaway fix RUN` writes one.")
    if file.stat().st_size > MOST_BYTES:
        raise OverlayError(str(path), f"it has {file.stat().st_size:,} bytes, which no overlay has.")
    try:
        table = pq.read_table(file, page_checksum_verification=True)
        about = json.loads((table.schema.metadata or {})[_ABOUT])
        rows = table.select(_SCHEMA.names).cast(_SCHEMA).to_pylist()
        version = int(about["format"])
        classes = tuple(str(one) for one in about["classes"])
        truth, told = str(about.get("truth", "")), dict(about.get("about", {}))
    except UNREADABLE_TABLE as error:
        raise OverlayError(
            str(path), f"it cannot be read ({error}).", hint="Make it again: `cutaway fix RUN`."
        ) from error
    if version > FORMAT:
        raise OverlayError(str(path), f"it has format {version}; this release reads up to {FORMAT}.")
    return Overlay(file.stem, classes, tuple(map(_correction, rows)), truth, told, file.absolute())


def overlays(run: Run) -> list[Overlay]:
    """Return the overlays of a run, the oldest first. One that cannot be read is left out."""
    return _readable(run.path / OVERLAYS)


def undone_overlays(run: Run) -> list[Overlay]:
    """Return the overlays that were taken back."""
    return _readable(run.path / UNDONE_OVERLAYS)


def find_overlay(run: Run, name: str | None = None) -> Overlay:
    """Return an overlay of a run by its name, or the newest one."""
    there = overlays(run)
    if name is None:
        if not there:
            raise OverlayError(
                str(run.path),
                f"run {run.name!r} has no overlay.",
                hint=f"`cutaway fix {run_word(run.path, relative=True)}` makes one.",
            )
        return there[-1]
    path = overlay_path(run, name)
    if not path.is_file():
        known = [one.name for one in there]
        listed = ", ".join(known) or "none"
        hint = did_you_mean(name, known)
        raise OverlayError(str(path), f"run {run.name!r} has no overlay {name!r}.", hint=f"{hint} It has {listed}.")
    return read_overlay(path)


def undo_overlay(run: Run, name: str | None = None) -> Overlay:
    """Take back an overlay, by default the newest: the one before it is the newest again. Its file is moved aside."""
    overlay = find_overlay(run, name)
    path = overlay_path(run, overlay.name)
    aside = run.path / UNDONE_OVERLAYS / path.name
    try:
        aside.parent.mkdir(exist_ok=True)
        path.replace(aside)
    except OSError as error:
        raise StorageError(f"Cannot move {path} aside: {error.strerror or error}.", path=path) from error
    return overlay


def free_name(run: Run) -> str:
    """Return the first of fix-1, fix-2, ... that no overlay of the run has, also none that was taken back."""
    taken = {path.stem for path in (run.path / OVERLAYS).glob("**/*.parquet")}
    return next(name for number in range(1, len(taken) + 2) if (name := f"fix-{number}") not in taken)


def environment_overlay() -> Overlay | None:
    """Return the overlay that CUTAWAY_OVERLAY names; None where it names none. Raises where it cannot be read."""
    path = os.environ.get(OVERLAY_VARIABLE, "")
    return read_overlay(path) if path else None


def _readable(folder: Path) -> list[Overlay]:
    found: list[tuple[str, int, Overlay]] = []
    for path in sorted(folder.glob("*.parquet")):
        try:
            one = read_overlay(path)
        except OverlayError:
            continue
        found.append((str(one.about.get("created", "")), path.stat().st_mtime_ns, one))
    return [one for *_, one in sorted(found, key=lambda held: held[:2])]


def _correction(row: Mapping[str, Any]) -> Correction:
    """Return a row of a file as a correction; who, when and why may be missing in somebody else's."""
    told = {name: row[name] or "" for name in ("reason", "who", "when")}
    score = row["score"] if row["score"] is not None and math.isfinite(row["score"]) else None
    return Correction(row["sample"] or "", row["field"] or "", row["old"], row["new"], score, **told)


def _problem(overlay: Overlay) -> str:
    """Say what is wrong with the content of an overlay; it may come from anybody."""
    if len(set(overlay.classes)) < len(overlay.classes):
        return "two of its classes have one name."
    counts = Counter((one.sample, one.field) for one in overlay.corrections)
    for (sample, name), count in counts.items():
        if count > 1:
            return f"it corrects the {name} of {sample!r} twice."
    classes = frozenset(overlay.classes)
    for one in overlay.corrections:
        problem = _problem_of(one, classes)
        if problem:
            return f"its correction of {one.sample!r} {problem}"
    return ""


def _problem_of(one: Correction, classes: frozenset[str]) -> str:
    if one.subset not in _SUBSETS or "/" not in one.sample:
        return "does not begin with a subset, as in 'training/7'."
    if one.field not in FIELDS:
        return f"is of {one.field!r}, but corrections are of {', '.join(FIELDS)}."
    if one.field == LABEL and not {one.old, one.new} <= classes:
        return f"goes from {one.old!r} to {one.new!r}, but the classes are {', '.join(sorted(classes)[:10])}."
    if one.field == DROP and (one.old, one.new) != ("no", "yes"):
        return f"drops from {one.old!r} to {one.new!r}, but 'no' and 'yes' belong there."
    if one.field == WEIGHT and not all(_is_weight(text) for text in (one.old, one.new)):
        return f"weighs {one.new!r} instead of {one.old!r}, but numbers from 0 on belong there."
    return ""


def _is_weight(text: str) -> bool:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return False
    return math.isfinite(value) and value >= 0
