"""What people wrote about a run, `annotations.json`: tags, a note, and whether other runs are compared with it.

Whatever is read or written is bounded and plain text. What later releases keep in the same file stays in it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from cutaway.errors import ConfigurationError, RunDamaged, StorageError
from cutaway.run.alone import locked
from cutaway.run.identity import Run
from cutaway.run.layout import ANNOTATIONS_FILE
from cutaway.run.plain_text import plain_text
from cutaway.run.tables import Damage

__all__ = [
    "LONGEST_NOTE",
    "LONGEST_TAG",
    "MOST_TAGS",
    "Annotations",
    "annotate",
    "read_annotations",
    "readable_annotations",
]

MOST_TAGS = 100
LONGEST_TAG = 100
LONGEST_NOTE = 100_000
# Far above what the bounds allow: a larger file is not ours.
_LARGEST = 4 << 20
# Writing takes milliseconds: whoever holds the folder for longer does something else with it.
LOCK_SECONDS = 3.0


@dataclass(frozen=True)
class Annotations:
    """What people wrote about a run."""

    tags: tuple[str, ...] = ()
    note: str = ""
    baseline: bool = False


def read_annotations(run: Run) -> Annotations:
    """Return what is written about a run; nothing where nobody did. Raises `RunDamaged` where it cannot be read."""
    return _annotations(_document(run))


def readable_annotations(run: Run) -> tuple[Annotations, Damage | None]:
    """Return what is written about a run; where it cannot be read, nothing, and what is damaged."""
    try:
        return read_annotations(run), None
    except RunDamaged as error:
        return Annotations(), Damage(error.path, error.offset, None, error.reason)


def annotate(
    run: Run, *, tags: Iterable[str] | None = None, note: str | None = None, baseline: bool | None = None
) -> Annotations:
    """Change what is written about a run, and return all of it; what is None stays.

    Tags are trimmed, each kept once, in their order. Raises `ConfigurationError` where the folder cannot be written.
    """
    with contextlib.ExitStack() as stack:
        # Two changes at once must lose none; where the folder cannot be locked for seconds, the last one wins, whole.
        # One that cannot be opened is named by reading or writing.
        with contextlib.suppress(OSError):
            stack.enter_context(locked(run.path, LOCK_SECONDS))
        document = _document(run)
        old = _annotations(document)
        new = Annotations(
            tags=old.tags if tags is None else tidy_tags(tags),
            note=old.note if note is None else plain_text(note, LONGEST_NOTE, lines=True),
            baseline=old.baseline if baseline is None else baseline,
        )
        if new != old:
            try:
                run.write_document(ANNOTATIONS_FILE, {**document, **asdict(new)})
            except StorageError as error:
                cause = error.__cause__
                reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else "it cannot be written"
                raise ConfigurationError(
                    f"Nothing was written about run {run.name!r}: {reason}.",
                    hint="Its folder must be writable for whoever serves or runs this.",
                ) from error
    return new


def tidy_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags trimmed, without empty ones, each once, at most `MOST_TAGS`."""
    plain = (plain_text(tag, LONGEST_TAG) for tag in tags)
    return tuple(dict.fromkeys(tag for tag in plain if tag))[:MOST_TAGS]


def _document(run: Run) -> dict[str, Any]:
    with contextlib.suppress(FileNotFoundError):
        if run.storage.size(ANNOTATIONS_FILE) > _LARGEST:
            raise RunDamaged(ANNOTATIONS_FILE, 0, f"it is larger than {_LARGEST >> 20} MB")
    try:
        return run.document(ANNOTATIONS_FILE) or {}
    except (ValueError, RecursionError) as error:
        raise RunDamaged(ANNOTATIONS_FILE, 0, "it is no JSON object") from error


def _annotations(document: dict[str, Any]) -> Annotations:
    """Take of a document what is as it should be: a run may come from anybody."""
    tags, note = document.get("tags"), document.get("note")
    return Annotations(
        tags=tidy_tags(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        note=plain_text(note, LONGEST_NOTE, lines=True) if isinstance(note, str) else "",
        baseline=document.get("baseline") is True,
    )
