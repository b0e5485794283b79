"""Where the families of checks write: rows in the order of the binding, findings in the order of causes.

Takes the user's own file and line apart from a message, where it stands first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cutaway.evaluation.check_report import CAUSES, CheckRow, CheckStatus
from cutaway.run.findings import SEVERITIES, Finding, Severity

__all__ = ["Sheet", "split_place"]

_PLACE = re.compile(r"^(?P<place>[^\n]*?\.py:\d+): (?P<rest>.+)$", re.DOTALL)
# What a finding of each severity makes of a row; the last is the worst.
WORSE = (CheckStatus.PASS, CheckStatus.WARN, CheckStatus.FAIL)
STATUS_OF = dict(zip(SEVERITIES, WORSE, strict=True))


class Sheet:
    """Rows and findings as they come in. A row is known by its kind and name, and is as bad as its worst finding."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], CheckRow] = {}
        self._findings: list[Finding] = []
        self._places: dict[tuple[str, str], str] = {}

    def place(self, kind: str, name: str, place: str) -> None:
        """Say where something is defined: its findings name that file and line where they know no better."""
        self._places[kind, name] = place

    def row(
        self,
        kind: str,
        name: str,
        *,
        shape: tuple[int, ...] | None = None,
        dtype: str = "",
        seconds: float | None = None,
        note: str = "",
    ) -> None:
        """Open a row, or say more about one."""
        old = self._rows.get((kind, name), CheckRow(name, kind))
        self._rows[kind, name] = replace(
            old,
            shape=old.shape if shape is None else shape,
            dtype=dtype or old.dtype,
            seconds=old.seconds if seconds is None else seconds,
            note=note or old.note,
        )

    def skip(self, kind: str, name: str, reason: str) -> None:
        """Say that something could not be tried, and because of what."""
        self.row(kind, name)
        self._rows[kind, name] = replace(self._rows[kind, name], status=CheckStatus.SKIP, note=reason)

    def find(
        self,
        code: str,
        severity: Severity,
        message: str,
        fix: str,
        *,
        row: tuple[str, str] | None = None,
        subset: str = "",
        sample: str = "",
        place: str = "",
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a conclusion; `row` is the kind and name of what it is about."""
        if row is not None:
            place = place or self._places.get(row, "")
        where = {"function": row[1] if row else "", "kind": row[0] if row else "", "subset": subset, "sample": sample}
        where = {key: value for key, value in {**where, "place": place}.items() if value}
        self._findings.append(
            Finding(code, severity, message, where=where, evidence={**(evidence or {}), "fix": fix}, source="check")
        )
        if row is None:
            return
        self.row(*row)
        status, old = STATUS_OF[severity], self._rows[row]
        if old.status is CheckStatus.SKIP or WORSE.index(status) > WORSE.index(old.status):
            self._rows[row] = replace(old, status=status)

    def failed(self, kind: str, name: str) -> bool:
        """Whether a row has failed so far, or was skipped."""
        row = self._rows.get((kind, name))
        return row is not None and row.status in (CheckStatus.FAIL, CheckStatus.SKIP)

    def told(self, code: str, function: str) -> bool:
        """Whether something was concluded about a function already."""
        return any(one.code == code and one.where.get("function") == function for one in self._findings)

    def rows(self) -> tuple[CheckRow, ...]:
        """Return the rows in the order in which they were opened."""
        return tuple(self._rows.values())

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings: the worst first, and of those the causes before what follows from them."""
        return tuple(sorted(self._findings, key=lambda one: (-SEVERITIES.index(one.severity), CAUSES.index(one.code))))


def split_place(message: str) -> tuple[str, str]:
    """Return the place and the rest of a message; an empty place where it begins with none.

    >>> split_place("bind.py:7: preprocess failed.")
    ('bind.py:7', 'preprocess failed')
    """
    found = _PLACE.match(message)
    place, rest = (found["place"], found["rest"]) if found else ("", message)
    return place, rest.rstrip(".")
