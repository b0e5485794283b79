"""What is taken along of a training: the questions that its pages ask at the first look, and one look further.

The rules are those of the pages in ui/src/pages/run; what a page asks otherwise (a search, a window) the copy answers
from these by the rules of ui/src/api/frozen_rules.ts, or says that it needs the studio.
"""

from __future__ import annotations

from typing import Any

from cutaway.studio.freezing.taking import Taker, pairs
from cutaway.tensors.statistic_names import STATISTIC_NAMES

__all__ = ["take_training"]

# Of many tensors only these are drawn, in the order of the page's choice: the first that a run has is shown first.
_TELLING = ("l2", "change", "mean", "std")
MOST_SERIES, MOST_POINTS, SERIES_A_QUESTION = 1000, 300_000, 50
MOST_TENSORS, TENSORS_IN_DETAIL = 20_000, 300
VALUES_A_TENSOR, VALUES_IN_ALL = 65_536, 1_000_000
MOST_FINDINGS, FINDINGS_IN_DETAIL, SAMPLES_A_WINDOW = 5000, 200, 200
MOST_DRAWN = 250_000


def take_training(take: Taker) -> dict[str, Any] | None:
    """Take the pages of a training along; return what is known of the run, or None where it cannot be opened."""
    take.take_list("/runs", most=1)
    detail: dict[str, Any] | None = take.take("")
    if detail is None:
        return None
    _curves(take)
    findings = _findings(take, detail)
    _tensors(take, detail, {name for one in findings for name in one["tensors"]})
    for layer in take.take("layers") or []:
        if layer["findings"]:
            take.take_list("findings", pairs(layer=layer["name"]), most=MOST_FINDINGS)
    _samples(take, detail, findings)
    return detail


def _curves(take: Taker) -> None:
    series = [row["series"] for row in take.take("scalars") or []]
    if len(series) > MOST_SERIES:
        take.left_out.append(f"{len(series) - MOST_SERIES:,} of {len(series):,} series.")
        series = series[:MOST_SERIES]
    # Exact where that is little: the page then never has to ask for a window of it.
    points = max(1000, min(20_000, MOST_POINTS // max(1, len(series))))
    for start in range(0, len(series), SERIES_A_QUESTION):
        part = series[start : start + SERIES_A_QUESTION]
        keys = [pairs(series=one) for one in part]
        take.take("curves.arrow", pairs(series=part, points=points), keys=keys)


def _findings(take: Taker, detail: dict[str, Any]) -> list[dict[str, Any]]:
    for about in ("training", "samples"):
        take.take_list("findings", pairs(about=about), most=MOST_FINDINGS)
    rows = take.take_list("findings", most=MOST_FINDINGS)
    if len(rows) > FINDINGS_IN_DETAIL:
        take.left_out.append(f"The details of {len(rows) - FINDINGS_IN_DETAIL:,} of {len(rows):,} findings.")
    told = [one for row in rows[:FINDINGS_IN_DETAIL] if (one := take.take(f"findings/{row['id']}")) is not None]
    losses = [row["series"] for row in take.look("scalars") or [] if row["group"] == "loss"][:3]
    for one in told:
        window = _around(one["first_step"], one["last_step"], detail["steps"]["last"])
        if window is None:
            continue
        if losses:
            take.take("curves.arrow", [*window, *pairs(series=losses)])
        for tensor in one["tensors"][:1]:
            take.take("tensor/series.arrow", [*window, *pairs(name=tensor)])
    return told


def _around(first: int | None, last: int | None, end: int | None) -> list[tuple[str, str]] | None:
    """Return the steps to draw around a window, as `around` in ui/src/pages/run/findings/evidence.ts."""
    if first is None or last is None:
        return None
    room = max(30, 2 * (last - first))
    to = last + room if end is None else max(last, min(last + room, end))
    return pairs(first=max(0, first - room), last=to, points=400)


def _tensors(take: Taker, detail: dict[str, Any], named: set[str]) -> None:
    rows = take.take_list("tensors", pairs(sort="model"), most=MOST_TENSORS)
    take.take_list("tensors", pairs(sort="-severity"), most=1000)
    known = detail["statistics"]
    statistics = [name for name in dict.fromkeys((*_TELLING, *STATISTIC_NAMES)) if not known or name in known] or ["l2"]
    for statistic in statistics if len(rows) <= 200 else statistics[: len(_TELLING)]:
        take.take("tensors/overview.arrow", pairs(statistic=statistic, columns=300))
    for collection in detail["collections"][:20]:
        query = pairs(statistic=statistics[0], collection=collection["name"], columns=300)
        take.take("tensors/overview.arrow", query)
    # Those that a finding names first: its page leads to them.
    names = sorted((row["name"] for row in rows), key=lambda name: name not in named)
    if len(names) > TENSORS_IN_DETAIL:
        take.left_out.append(f"The details of {len(names) - TENSORS_IN_DETAIL:,} of {len(names):,} tensors.")
    values_left = VALUES_IN_ALL
    for name in names[:TENSORS_IN_DETAIL]:
        values_left -= _tensor(take, name, values_left)
    if values_left <= 0:
        take.left_out.append("The values of some tensors that were saved in full.")


def _tensor(take: Taker, name: str, values_left: int) -> int:
    """Take one tensor along, and return how many of its values."""
    one = take.take("tensor", pairs(name=name))
    take.take("tensor/series.arrow", pairs(name=name, points=1000), keys=[pairs(name=name)])
    saved = one["saved"] if one is not None else []
    for step in saved[-2:]:
        take.take("tensor/histogram", pairs(name=name, step=step))
    size = one["tensor"]["size"] if one is not None else None
    if not saved or size is None or size > min(VALUES_A_TENSOR, values_left):
        return 0
    query = pairs(name=name, step=saved[-1])
    take.take("tensor/values.arrow", [*query, *pairs(limit=MOST_DRAWN)])
    return int(size)


def _samples(take: Taker, detail: dict[str, Any], findings: list[dict[str, Any]]) -> None:
    if not detail["steps"]["samples_known"]:
        return
    windows = [(None, None), *((one["first_step"], one["last_step"]) for one in findings)]
    for first, last in dict.fromkeys(windows):
        query = [] if first is None or last is None else pairs(first=first, last=last)
        rows = take.take_list("samples", query, most=SAMPLES_A_WINDOW)
        take.name_samples(row["sample"] for row in rows[:50])
