"""Makes an overlay of decisions: what each sample was and what it becomes, on top of the overlay that is in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cutaway.analysis.fixing.choosing import Decision
from cutaway.errors import AnalysisUnavailable, OverlayError
from cutaway.run.identity import Run
from cutaway.run.overlay_use import overlay_of
from cutaway.run.overlays import (
    DROP,
    LABEL,
    WEIGHT,
    Correction,
    Overlay,
    environment_overlay,
    overlays,
    read_overlay,
)

__all__ = ["base_overlay", "make_overlay"]


def base_overlay(run: Run, digest: str) -> Overlay:
    """Return the overlay of a digest that a run was evaluated with, whose labels are what the evaluation shows.

    Raises `OverlayError` where it is gone.
    """
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


def make_overlay(
    name: str,
    decisions: Sequence[Decision],
    labels: Mapping[str, str | None],
    classes: Sequence[str],
    *,
    truth: str = "",
    base: Overlay | None = None,
    standing: Sequence[Correction] = (),
    who: str = "",
    when: str = "",
    about: Mapping[str, Any] | None = None,
) -> Overlay:
    """Return the overlay that carries out decisions about samples whose labels are given.

    Where those labels were made with another overlay, `base`, the new one holds its corrections too, so that it alone
    turns the original data into what was decided: of a sample that both relabel, `old` is the original label. What
    people decided before, `standing`, goes along.
    """
    if base is not None and base.classes != tuple(classes):
        raise AnalysisUnavailable(
            "overlay", f"the overlay {base.name!r} that the samples were evaluated with has other classes than these."
        )
    held = {(one.sample, one.field): one for one in (base.corrections if base is not None else ())}
    held |= {(one.sample, one.field): one for one in standing}
    for one in decisions:
        field, old, new = _change(one, labels[one.sample])
        before = held.pop((one.sample, field), None)
        if before is not None:
            old = before.old
        if old != new:
            held[one.sample, field] = Correction(one.sample, field, old, new, one.score, one.reason, who, when)
    told = {**(about or {}), "created": when, **({"on": base.digest} if base is not None else {})}
    return Overlay(name, tuple(classes), tuple(held.values()), truth, told)


def _change(one: Decision, label: str | None) -> tuple[str, str, str]:
    """Return what a decision changes of a sample, from what and to what."""
    if one.action == "drop":
        return DROP, "no", "yes"
    if one.action == "reweight":
        return WEIGHT, "1", f"{one.weight:g}"
    if label is None or one.label is None:
        raise AnalysisUnavailable("overlay", f"{one.sample} has no label that could be changed.")
    return LABEL, label, one.label
