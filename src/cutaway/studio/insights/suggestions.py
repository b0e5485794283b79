"""Samples whose label is likely wrong, the likeliest first, with what was decided about each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

from cutaway.analysis.samples import LABEL
from cutaway.run.decisions import Decisions, read_decisions
from cutaway.studio.populations.doubted import MISLABELED, doubted_labels
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.wire.insights import SuggestionRow, Suggestions

__all__ = ["suggestions_of"]

_Asked = Literal["open", "decided", "all"]


def suggestions_of(loaded: Loaded, previews: SamplePreviews, decided: _Asked, offset: int, limit: int) -> Suggestions:
    """Return some of the suggestions, how many there are, and whether labels were looked at."""
    decisions = read_decisions(loaded.run)
    found = [one for one in _candidates(loaded, decisions) if _is_asked(decisions, one["sample"], decided)]
    shown = found[offset : offset + limit]
    samples = {one["sample"] for one in shown}
    rows, drawn = loaded.rows_of(sorted(samples)), previews.known(loaded.run, samples)
    data = [_row(one, rows[one["sample"]], decisions, one["sample"] in drawn) for one in shown]
    analyzed = loaded.kept(MISLABELED) is not None
    return Suggestions(data=data, total=len(found), offset=offset, limit=limit, analyzed=analyzed)


def _candidates(loaded: Loaded, decisions: Decisions) -> Iterator[dict[str, Any]]:
    """Yield what is suggested, and after that what somebody decided without a suggestion.

    The analysis ranks every label; from the score on from which one is in doubt it is a suggestion.
    """
    doubted = doubted_labels(loaded)
    suggested: set[str] = set()
    if doubted is not None:
        columns = ["sample", "score", "reason", "subset", "label", "suggested"]
        for one in doubted.select(columns).to_pylist():
            suggested.add(one["sample"])
            yield one
    others = [sample for sample in decisions.words() if sample not in suggested]
    for sample, row in loaded.rows_of(others).items() if others and LABEL in loaded.own_columns else ():
        label = loaded.column(LABEL)[row].as_py()
        subset = sample.partition("/")[0]
        yield {"sample": sample, "score": None, "reason": "", "subset": subset, "label": label, "suggested": None}


def _is_asked(decisions: Decisions, sample: str, decided: _Asked) -> bool:
    return decided == "all" or (decisions.of(sample) is not None) == (decided == "decided")


def _row(one: dict[str, Any], row: int, decisions: Decisions, drawn: bool) -> SuggestionRow:  # noqa: FBT001 - a column
    decision, label = decisions.of(one["sample"]) or (None, None)
    return SuggestionRow(
        **one,
        row=row,
        preview=drawn,
        decision=cast("Literal['accepted', 'rejected'] | None", decision),
        decided_label=label,
    )
