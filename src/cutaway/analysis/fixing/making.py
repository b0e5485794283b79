"""Makes an overlay of decisions: what each sample was and what it becomes, on top of an overlay that is in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cutaway.analysis.fixing.choosing import Decision
from cutaway.errors import AnalysisUnavailable
from cutaway.run.overlays import DROP, LABEL, WEIGHT, Correction, Overlay

__all__ = ["make_overlay"]


def make_overlay(
    name: str,
    decisions: Sequence[Decision],
    labels: Mapping[str, str | None],
    classes: Sequence[str],
    *,
    truth: str = "",
    base: Overlay | None = None,
    who: str = "",
    when: str = "",
    about: Mapping[str, Any] | None = None,
) -> Overlay:
    """Return the overlay that carries out decisions about samples whose labels are given.

    Where those labels were made with another overlay, `base`, the new one holds its corrections too, so that it alone
    turns the original data into what was decided: of a sample that both relabel, `old` is the original label.
    """
    if base is not None and base.classes != tuple(classes):
        raise AnalysisUnavailable(
            "overlay", f"the overlay {base.name!r} that the samples were evaluated with has other classes than these."
        )
    held = {(one.sample, one.field): one for one in (base.corrections if base is not None else ())}
    for one in decisions:
        for correction in _corrections(one, labels[one.sample], who, when):
            key = correction.sample, correction.field
            before = held.pop(key, None)
            old = correction.old if before is None else before.old
            if old != correction.new:
                held[key] = Correction(
                    correction.sample,
                    correction.field,
                    old,
                    correction.new,
                    correction.score,
                    correction.reason,
                    correction.who,
                    correction.when,
                )
    told = {**(about or {}), "created": when, **({"on": base.digest} if base is not None else {})}
    return Overlay(name, tuple(classes), tuple(held.values()), truth, told)


def _corrections(one: Decision, label: str | None, who: str, when: str) -> list[Correction]:
    if one.action == "drop":
        return [Correction(one.sample, DROP, "no", "yes", one.score, one.reason, who, when)]
    if one.action == "reweight":
        return [Correction(one.sample, WEIGHT, "1", f"{one.weight:g}", one.score, one.reason, who, when)]
    if label is None or one.label is None:
        raise AnalysisUnavailable("overlay", f"{one.sample} has no label that could be changed.")
    return [Correction(one.sample, LABEL, label, one.label, one.score, one.reason, who, when)]
