"""Insights as a table: the sample to look at first, severity and words, then the figures."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from cutaway.analysis.insights.values import Insight

__all__ = ["insight_table"]

_SCHEMA = pa.schema(
    [
        ("sample", pa.string()),
        ("score", pa.float64()),
        ("reason", pa.string()),
        ("kind", pa.string()),
        ("where", pa.string()),
        ("subset", pa.string()),
        ("count", pa.int64()),
        ("share", pa.float64()),
        ("measure", pa.string()),
        ("inside", pa.float64()),
        ("outside", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("p", pa.float64()),
        ("action", pa.string()),
        ("buys", pa.string()),
        ("also", pa.string()),
    ]
)


def insight_table(insights: Iterable[Insight]) -> pa.Table:
    """Return a row for each insight, the gravest first; conditions are joined by ` and `, missing figures null.

    >>> insight_table([]).column_names[:5]
    ['sample', 'score', 'reason', 'kind', 'where']
    """
    rows = [
        {
            "sample": one.sample,
            "score": one.severity,
            "reason": one.words,
            "where": " and ".join(one.where),
            "also": ", ".join(one.also),
            **{name: _figure(one, name) for name in ("share", "inside", "outside", "low", "high", "p")},
            **{name: getattr(one, name) for name in ("kind", "subset", "count", "measure", "action", "buys")},
        }
        for one in insights
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def _figure(insight: Insight, name: str) -> float | None:
    number = float(getattr(insight, name))
    return number if number == number else None  # noqa: PLR0124  # NaN is not itself
