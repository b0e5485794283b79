"""What this process has read of the overlay that CUTAWAY_OVERLAY names, and `overlay.json`, where a run keeps that.

A run says that its training was corrected only where it was: who never asks for the corrections leaves no trace here.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cutaway.errors import RunDamaged
from cutaway.run.identity import Run
from cutaway.run.layout import OVERLAY_FILE
from cutaway.run.overlays import DROP, LABEL, OVERLAY_VARIABLE, WEIGHT, Overlay

__all__ = [
    "CORRECTED",
    "DATA_SET",
    "EVALUATION",
    "WEIGHTS",
    "HandedOut",
    "never_read",
    "note_read",
    "overlay_of",
    "record_overlay",
]

# Who asked: a loop with its own labels, one that asked for weights, one that trains on a data set, or an evaluation,
# which reads corrections too but trains nothing.
CORRECTED, WEIGHTS, DATA_SET, EVALUATION = "corrected", "weights", "data set", "evaluation"
_TRAINS = {LABEL: (CORRECTED, DATA_SET), WEIGHT: (WEIGHTS,), DROP: (WEIGHTS,)}


class HandedOut:
    """Which of some corrections were handed out, also by forked workers of a loader: they share this memory."""

    def __init__(self, samples: Iterable[str]) -> None:
        self._place = {sample: place for place, sample in enumerate(samples)}
        self._shared = mmap.mmap(-1, max(len(self._place), 1))

    def mark(self, samples: Iterable[str]) -> None:
        """Note that the corrections of these samples were handed out."""
        for sample in samples:
            place = self._place.get(sample)
            if place is not None:
                self._shared[place] = 1

    def __len__(self) -> int:
        return sum(self._shared[:])


class _Uses:
    """What was read of each overlay, by its path."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, tuple[Overlay, dict[tuple[str, str], HandedOut]]] = {}

    def seen(self, overlay: Overlay, by: str, subset: str) -> HandedOut:
        with self._lock:
            path = str(overlay.path)
            held = self._held.get(path)
            if held is None or held[0].digest != overlay.digest:
                held = self._held[path] = (overlay, {})
            of_subset = dict.fromkeys(one.sample for one in overlay.corrections if one.subset == subset)
            return held[1].setdefault((by, subset), HandedOut(of_subset))

    def told(self, path: str) -> dict[str, Any] | None:
        with self._lock:
            held = self._held.get(path)
            if held is None:
                return None
            overlay, uses = held
            read = [{"by": by, "subset": subset, "samples": len(seen)} for (by, subset), seen in uses.items()]
        return {
            "name": overlay.name,
            "path": path,
            "digest": overlay.digest,
            "corrections": overlay.counts,
            "read": sorted(read, key=lambda one: (str(one["by"]), str(one["subset"]))),
        }


_uses = _Uses()


def note_read(overlay: Overlay, by: str, subset: str) -> HandedOut:
    """Note that somebody asked for the corrections of a subset, and return where to mark those that were used."""
    return _uses.seen(overlay, by, subset)


def record_overlay(run: Run) -> None:
    """Write into a run what this process has read of the overlay to train with; nothing where it read nothing.

    What another process has recorded of the same overlay stays.
    """
    path = os.environ.get(OVERLAY_VARIABLE, "")
    told = _uses.told(str(Path(path).expanduser().absolute())) if path else None
    if told is None or not _trained_on(told["read"]):
        return
    before = overlay_of(run)
    if before is not None and before.get("digest") == told["digest"]:
        most: dict[tuple[str, str], int] = {}
        for one in (*before.get("read", []), *told["read"]):
            key = one["by"], one["subset"]
            most[key] = max(most.get(key, 0), one["samples"])
        told["read"] = [{"by": by, "subset": subset, "samples": most[by, subset]} for by, subset in sorted(most)]
    if before != told:
        run.write_document(OVERLAY_FILE, told)


def overlay_of(run: Run) -> dict[str, Any] | None:
    """Return what a run says about the overlay it was made with: name, path, digest, corrections, read.

    A run may come from anybody: what is not as it is written here counts as nothing said.
    """
    try:
        told = run.document(OVERLAY_FILE)
    except (RunDamaged, OSError):
        return None
    return told if told is not None and _is_told(told) else None


def never_read(told: dict[str, Any] | None, overlay: Overlay) -> tuple[str, ...]:
    """Return which fields of an overlay the training in a run never asked for; all of them where it has no record.

    What counts is the training subset, where the overlay corrects it; otherwise any subset that it corrects.
    """
    read = (told or {}).get("read", []) if (told or {}).get("digest") == overlay.digest else []
    used = _trained_on(read)
    missed = []
    for name in overlay.counts:
        subsets = {one.subset for one in overlay.corrections if one.field == name}
        wanted = {"training"} & subsets or subsets
        if not used & {(by, subset) for by in _TRAINS[name] for subset in wanted}:
            missed.append(name)
    return tuple(missed)


def _is_told(told: Mapping[str, Any]) -> bool:
    read, counts = told.get("read"), told.get("corrections")
    return (
        all(isinstance(told.get(key), str) for key in ("name", "path", "digest"))
        and isinstance(counts, dict)
        and all(isinstance(one, int) for one in counts.values())
        and isinstance(read, list)
        and all(isinstance(one, dict) for one in read)
        and all(isinstance(one.get(key), str) for one in read for key in ("by", "subset"))
        and all(isinstance(one.get("samples"), int) for one in read)
    )


def _trained_on(read: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Return who asked for the corrections of which subset to train with them.

    A data set that only stands there, with none of its corrected labels taken, was not trained with.
    """
    return {
        (one["by"], one["subset"])
        for one in read
        if one["by"] in (CORRECTED, WEIGHTS) or (one["by"] == DATA_SET and one["samples"])
    }
