"""Finds the overlay that an evaluation was made with, since what it shows as labels are corrected ones already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cutaway.errors import OverlayError
from cutaway.run.identity import Run
from cutaway.run.overlay_use import overlay_of
from cutaway.run.overlays import Overlay, environment_overlay, overlays, read_overlay

__all__ = ["base_overlay"]


def base_overlay(run: Run, digest: str) -> Overlay:
    """Return the overlay of a digest that a run was evaluated with. Raises `OverlayError` where it is gone."""
    told = overlay_of(run) or {}
    candidates = [str(told["path"])] if told.get("digest") == digest and "path" in told else []
    for path in candidates:
        if Path(path).is_file() and (found := read_overlay(path)).digest == digest:
            return replace(found, path=Path(path))
    named = environment_overlay()
    if named is not None and named.digest == digest:
        return named
    own = next((one for one in overlays(run) if one.digest == digest), None)
    if own is not None:
        return own
    raise OverlayError(
        candidates[0] if candidates else digest[:12],
        f"run {run.name!r} was evaluated with it, and it is no longer there.",
        hint="Set CUTAWAY_OVERLAY to where it lies now.",
    )
