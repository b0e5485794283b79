"""What people decided about labels on a page: the overlay `studio` of a run, and what they rejected.

Accepted corrections are corrections of that overlay, which trainings and evaluations use as any other. Rejected ones
stand in its `about["rejected"]`. Without a correction it is no overlay: the file then lies among those that were taken
back, where only what it rejects still counts. All changes are made one after the other, by whichever process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cutaway.errors import StorageError
from cutaway.run.file_stamp import stamp_of
from cutaway.run.identity import Run
from cutaway.run.overlays import LABEL, Correction, Overlay, overlay_path, read_overlay, replace_overlay

__all__ = [
    "STUDIO",
    "Decisions",
    "Rejection",
    "decisions_in",
    "decisions_stamp",
    "read_decisions",
    "write_decisions",
]

STUDIO = "studio"
"""The name of the overlay, and of who decided what in it."""
MOST_DIGESTS = 1000


@dataclass(frozen=True)
class Rejection:
    """A suggestion that somebody turned down: the label stays."""

    sample: str
    label: str = ""
    suggested: str = ""
    when: str = ""


@dataclass(frozen=True)
class Decisions:
    """What was decided in a run. `originals` are the labels, before any correction, of all that was ever corrected.

    `on` are the overlays, by digest, that evaluations were made with and whose corrections are among these; `digests`
    are those that this overlay itself had so far.
    """

    corrections: Mapping[tuple[str, str], Correction] = field(default_factory=dict)
    rejected: Mapping[str, Rejection] = field(default_factory=dict)
    originals: Mapping[str, str] = field(default_factory=dict)
    on: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    truth: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    def of(self, sample: str) -> tuple[str, str | None] | None:
        """Return `accepted` with the label that a sample gets, or `rejected`; None where nothing was decided."""
        correction = self.corrections.get((sample, LABEL))
        if correction is not None and correction.who == STUDIO:
            return "accepted", correction.new
        return ("rejected", None) if sample in self.rejected else None

    def words(self) -> dict[str, str]:
        """Return `accepted` or `rejected` for every sample that was decided."""
        # Corrections of another overlay, which this one holds too, were decided elsewhere.
        ours = [one for one in self.corrections.values() if one.field == LABEL and one.who == STUDIO]
        accepted = {one.sample: "accepted" for one in ours}
        return dict.fromkeys(self.rejected, "rejected") | accepted


def read_decisions(run: Run) -> Decisions:
    """Return what was decided. Raises `OverlayError` where it cannot be read."""
    path = overlay_path(run, STUDIO)
    if path.is_file():
        return _decisions(read_overlay(path), whole=True)
    aside = _aside(path)
    return _decisions(read_overlay(aside), whole=False) if aside.is_file() else Decisions()


def decisions_in(overlay: Overlay) -> Decisions:
    """Return what an overlay says was decided; also one that was made on top of decisions, and tells what it kept."""
    return _decisions(overlay, whole=True)


def decisions_stamp(run: Run) -> object:
    """Return what changes when decisions do; None where nothing was ever decided."""
    path = overlay_path(run, STUDIO)
    stamps = [(str(one), stamp_of(one)) for one in (path, _aside(path))]
    return tuple(one for one in stamps if one[1] is not None) or None


def write_decisions(run: Run, decisions: Decisions) -> Overlay | None:
    """Write all decisions whole, and return the overlay; None where no correction of ours is left.

    Call it `writing_alone`.
    """
    path = overlay_path(run, STUDIO)
    for folder in (path.parent, _aside(path).parent):
        # A run may come from anybody: what is decided is written into it, and nowhere else.
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise StorageError(f"Decisions of run {run.name!r} cannot be kept: its `{folder.name}` is no folder.")
    overlay = Overlay(STUDIO, decisions.classes, tuple(decisions.corrections.values()), decisions.truth)
    about = {
        **decisions.about,
        "rejected": [dict(vars(one)) for one in decisions.rejected.values()],
        "originals": dict(decisions.originals),
        "bases": list(decisions.on),
        "digests": list(dict.fromkeys([*decisions.digests, overlay.digest]))[-MOST_DIGESTS:],
    }
    overlay = replace(overlay, about=about)
    if any(one.who == STUDIO for one in overlay.corrections):
        return replace_overlay(path, overlay)
    # First aside, then away: whenever it is cut short, one of the two is whole.
    replace_overlay(_aside(path), replace(overlay, corrections=()))
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"Cannot remove {path}: {error.strerror or error}.", path=path) from error
    return None


def _aside(path: Path) -> Path:
    return path.parent / "undone" / path.name


def _decisions(overlay: Overlay, *, whole: bool) -> Decisions:
    """Take of a file what is as we write it: a run may come from anybody."""
    about = dict(overlay.about)
    rejected = [one for one in map(_rejection, _list_or_empty(about.pop("rejected", None))) if one is not None]
    originals = about.pop("originals", None)
    on, digests = (
        tuple(one for one in _list_or_empty(about.pop(name, None)) if isinstance(one, str))
        for name in ("bases", "digests")
    )
    corrections = {(one.sample, one.field): one for one in overlay.corrections} if whole else {}
    ours = [key for key, one in corrections.items() if one.who == STUDIO]
    return Decisions(
        corrections,
        {one.sample: one for one in rejected if (one.sample, LABEL) not in ours},
        {str(sample): str(label) for sample, label in originals.items()} if isinstance(originals, dict) else {},
        # What was taken back with all corrections is, for the next one, not held any more.
        on if whole else (),
        digests,
        overlay.classes,
        overlay.truth,
        about,
    )


def _list_or_empty(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _rejection(told: Any) -> Rejection | None:
    if not isinstance(told, dict) or not isinstance(told.get("sample"), str):
        return None
    label, suggested, when = (str(told.get(name) or "") for name in ("label", "suggested", "when"))
    return Rejection(told["sample"], label, suggested, when)
