"""What people decided about samples of a run: it stands, whatever scores say. Decides nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cutaway.run.decisions import Rejection, decisions_in, read_decisions
from cutaway.run.identity import Run
from cutaway.run.layout import OVERLAYS
from cutaway.run.overlays import Correction, Overlay, read_overlay

__all__ = ["BY_SCORES", "Standing", "decided_by_people"]

BY_SCORES = "cutaway fix"
"""Who decided what was accepted by its score alone."""
# Somebody else's program may not say who decided.
NOBODY = ""


@dataclass(frozen=True)
class Standing:
    """What people corrected, and what they rejected so that the label stays."""

    corrections: tuple[Correction, ...] = ()
    rejected: Mapping[str, Rejection] = field(default_factory=dict)

    @property
    def samples(self) -> frozenset[str]:
        """The samples that people decided on."""
        return frozenset(self.rejected) | {one.sample for one in self.corrections}


def decided_by_people(run: Run, base: Overlay | None) -> Standing:
    """Return what people decided: on the page, in a file, or in the overlay that the run was evaluated with.

    Of several decisions about one sample the newest counts. Raises `OverlayError` where an overlay cannot be read, for
    whoever decided something there would be overruled unheard.
    """
    there = [read_overlay(path) for path in sorted((run.path / OVERLAYS).glob("*.parquet"))]
    every = there if base is None else [base, *there]
    ours = [one for overlay in every for one in overlay.corrections if one.who not in (BY_SCORES, NOBODY)]
    newest = {(one.sample, one.field): one for one in sorted(ours, key=lambda one: one.when)}
    rejected = {} if base is None else dict(decisions_in(base).rejected)
    for overlay in there:
        rejected |= decisions_in(overlay).rejected
    # Those that are left where no correction is, lie aside.
    rejected |= read_decisions(run).rejected
    return Standing(tuple(newest.values()), rejected)
