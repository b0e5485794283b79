"""Selections of samples that people kept, `selections/<name>.json`: conditions, a lasso, ids, and a note.

Knows the format, and takes of somebody else's file what is as it should be. Which samples a selection means is said
by whoever holds the evaluation.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from cutaway.errors import ConfigurationError, CutawayError, RunDamaged, StorageError, did_you_mean
from cutaway.run.identity import Run
from cutaway.run.layout import SELECTIONS
from cutaway.run.plain_text import plain_text

__all__ = [
    "MOST_SELECTIONS",
    "Kept",
    "SampleSelection",
    "drop_selection",
    "find_selection",
    "keep_selection",
    "selections",
]

VERSION = 1
MOST_SELECTIONS = 1000
LONGEST_NAME, LONGEST_NOTE, LONGEST_TEXT = 100, 10_000, 2000
MOST_CONDITIONS, MOST_CORNERS, MOST_SAMPLES = 50, 200, 10_000
# What is longer is not one of ours.
LARGEST = 4 << 20


@dataclass(frozen=True)
class SampleSelection:
    """Samples of an evaluation: those for which all conditions hold, inside a lasso, and among those named."""

    name: str
    evaluation: int
    where: tuple[str, ...] = ()
    lasso: tuple[tuple[float, float], ...] = ()
    samples: tuple[str, ...] = ()
    note: str = ""
    created: float = field(default_factory=time.time)


class Kept(NamedTuple):
    """The selections of a run, the newest first, and what was left out."""

    selections: list[SampleSelection]
    notes: list[str]


def selections(run: Run) -> Kept:
    """Return the selections that were kept in a run; a file that cannot be read is left out, and said."""
    found, notes = [], []
    names = [name for name in run.storage.list(SELECTIONS) if name.endswith(".json")]
    for name in names[:MOST_SELECTIONS]:
        try:
            found.append(_read_selection(run, f"{SELECTIONS}/{name}"))
        except (CutawayError, OSError) as error:
            notes.append(f"The selection in {plain_text(name, 100)!r} is left out: {error}")
    if len(names) > MOST_SELECTIONS:
        notes.append(f"There are {len(names):,} selections; {MOST_SELECTIONS:,} of them are shown.")
    return Kept(sorted(found, key=lambda one: -one.created), notes)


def find_selection(run: Run, name: str) -> SampleSelection:
    """Return a selection by its name. Raises with the nearest names where there is none."""
    there = selections(run).selections
    found = next((one for one in there if one.name == plain_text(name, LONGEST_NAME)), None)
    if found is None:
        known = [one.name for one in there]
        listed = ", ".join(known[:20]) or "none"
        raise ConfigurationError(
            f"There is no selection {name!r}.", hint=f"{did_you_mean(name, known)} There are {listed}."
        )
    return found


def keep_selection(run: Run, selection: SampleSelection) -> SampleSelection:
    """Keep a selection, and return it as it was kept; one of the same name is replaced."""
    name = plain_text(selection.name, LONGEST_NAME)
    if not name:
        raise ConfigurationError("A selection needs a name that can be read.")
    if not all(_is_corner(one) for one in selection.lasso):
        raise ConfigurationError(f"Selection {name!r} has a lasso with a corner that is farther out than any map.")
    kept = replace(selection, name=name, note=plain_text(selection.note, LONGEST_NOTE, lines=True))
    key, content = _key(name), {"version": VERSION, **asdict(kept)}
    if len(str(content)) > LARGEST // 4:
        raise ConfigurationError(
            f"Selection {name!r} is too large to keep: {len(kept.samples):,} samples by name.",
            hint="Select by conditions.",
        )
    if (run.path / SELECTIONS).is_symlink():
        raise ConfigurationError(
            f"Selection {name!r} was not kept: `{SELECTIONS}` of run {run.name!r} leads elsewhere.",
            hint="Remove that link.",
        )
    there = run.storage.list(SELECTIONS)
    if len(there) >= MOST_SELECTIONS and key.rpartition("/")[2] not in there:
        raise ConfigurationError(
            f"Run {run.name!r} has {len(there):,} selections, which is as many as it can have.",
            hint="Remove some first.",
        )
    try:
        run.write_document(key, content)
    except StorageError as error:
        raise ConfigurationError(
            f"Selection {name!r} was not kept: the folder of run {run.name!r} cannot be written.",
            hint="It must be writable for whoever serves or runs this.",
        ) from error
    return kept


def drop_selection(run: Run, name: str) -> None:
    """Remove a selection. Raises with the nearest names where there is none."""
    if (run.path / SELECTIONS).is_symlink():
        raise ConfigurationError(f"`{SELECTIONS}` of run {run.name!r} leads elsewhere.", hint="Remove that link.")
    run.storage.remove(_key(find_selection(run, name).name))


def _key(name: str) -> str:
    """Return where a selection of a name lies: what can be read of it, and what tells it from every other."""
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "selection"
    return f"{SELECTIONS}/{readable}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}.json"


def _read_selection(run: Run, key: str) -> SampleSelection:
    if run.storage.size(key) > LARGEST:
        raise RunDamaged(key, 0, f"it is larger than {LARGEST >> 20} MB")
    try:
        held = run.document(key) or {}
    except (ValueError, RecursionError) as error:
        raise RunDamaged(key, 0, "it is no JSON object") from error
    name, evaluation = held.get("name"), held.get("evaluation")
    if held.get("version") != VERSION:
        raise RunDamaged(key, 0, f"it has version {str(held.get('version'))[:20]}, and this release reads {VERSION}")
    if not isinstance(name, str) or not name or not isinstance(evaluation, int) or not 0 <= evaluation < 2**31:
        raise RunDamaged(key, 0, "it has no name or no evaluation")
    if _key(plain_text(name, LONGEST_NAME)) != key:
        raise RunDamaged(key, 0, "its file has the name of another selection")
    note, created = held.get("note"), held.get("created")
    return SampleSelection(
        name=plain_text(name, LONGEST_NAME),
        evaluation=evaluation,
        where=_checked_texts(key, held.get("where"), MOST_CONDITIONS),
        lasso=_corners(key, held.get("lasso")),
        samples=_checked_texts(key, held.get("samples"), MOST_SAMPLES),
        note=plain_text(note, LONGEST_NOTE, lines=True) if isinstance(note, str) else "",
        created=float(created) if created is not None and _is_number(created) else 0.0,
    )


def _checked_texts(key: str, held: Any, most: int) -> tuple[str, ...]:
    if not isinstance(held, list) or len(held) > most or not all(isinstance(one, str) for one in held):
        raise RunDamaged(key, 0, "what it selects is not as Cutaway writes it")
    if any(len(one) > LONGEST_TEXT for one in held):
        raise RunDamaged(key, 0, f"it has a text of more than {LONGEST_TEXT:,} characters")
    return tuple(held)


def _corners(key: str, held: Any) -> tuple[tuple[float, float], ...]:
    if not isinstance(held, list) or len(held) > MOST_CORNERS or not all(_is_corner(one) for one in held):
        raise RunDamaged(key, 0, "its lasso is not a list of corners")
    return tuple((float(x), float(y)) for x, y in held)


def _is_corner(held: Any) -> bool:
    return isinstance(held, Sequence) and len(held) == 2 and all(_is_number(one) for one in held)


def _is_number(held: Any) -> bool:
    return isinstance(held, int | float) and not isinstance(held, bool) and abs(held) < 1e300 and math.isfinite(held)
