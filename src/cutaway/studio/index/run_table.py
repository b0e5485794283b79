"""All runs as one table in memory: its columns, and its rows sorted, searched and filtered.

Reads no run; one table never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.analysis.filters import Filter, parse_filter, rows_where
from cutaway.arrays import BoolArray
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.studio.index.facts import IndexedRun
from cutaway.studio.index.values import Value

__all__ = ["BUILT_IN", "HEALTH_ORDER", "BuiltIn", "Kind", "RunTable", "group_of", "kind_of", "sort_key", "title_of"]

Kind = Literal["number", "text", "time", "flag"]
Group = Literal["run", "config", "scalar", "identity"]
# From well to ill.
HEALTH_ORDER = ("healthy", "not checked", "warnings", "sick")


class BuiltIn(NamedTuple):
    """A column that every run has."""

    title: str
    kind: Kind
    value: Callable[[IndexedRun], Any]


BUILT_IN: dict[str, BuiltIn] = {
    "name": BuiltIn("Name", "text", lambda facts: facts.name),
    "folder": BuiltIn("Folder", "text", lambda facts: facts.folder),
    "project": BuiltIn("Project", "text", lambda facts: facts.project or None),
    "kind": BuiltIn("Kind", "text", lambda facts: facts.kind),
    "state": BuiltIn("State", "text", lambda facts: facts.state),
    "health": BuiltIn("Health", "text", lambda facts: facts.health.verdict),
    "loss": BuiltIn("Last loss", "number", lambda facts: facts.loss.last if facts.loss else None),
    "best_loss": BuiltIn("Best loss", "number", lambda facts: facts.loss.best if facts.loss else None),
    "created": BuiltIn("Created", "time", lambda facts: facts.created),
    "updated": BuiltIn("Updated", "time", lambda facts: facts.updated),
    "seconds": BuiltIn("Seconds", "number", lambda facts: facts.seconds),
    "steps": BuiltIn("Steps", "number", lambda facts: facts.steps),
    "epochs": BuiltIn("Epochs", "number", lambda facts: facts.epochs),
    "framework": BuiltIn("Framework", "text", lambda facts: facts.framework or None),
    "attempts": BuiltIn("Attempts", "number", lambda facts: facts.attempts),
    "evaluations": BuiltIn("Evaluations", "number", lambda facts: facts.evaluations),
    "findings": BuiltIn("Findings", "number", lambda facts: facts.findings),
    "warnings": BuiltIn("Warnings", "number", lambda facts: facts.health.warnings),
    "errors": BuiltIn("Errors", "number", lambda facts: facts.health.errors),
    "tags": BuiltIn("Tags", "text", lambda facts: ", ".join(facts.tags) or None),
    "note": BuiltIn("Note", "text", lambda facts: facts.note or None),
    "baseline": BuiltIn("Baseline", "flag", lambda facts: facts.baseline),
    # A run may have more settings and scalars than a table can: how many of them no column shows.
    "left_out": BuiltIn("Values left out", "number", lambda facts: facts.left_out),
}


def group_of(name: str) -> Group:
    """Return the group of a column by its name."""
    if name in BUILT_IN:
        return "run"
    if name.startswith("config."):
        return "config"
    return "scalar" if name.startswith("scalar.") else "identity"


def title_of(name: str) -> str:
    """Return what to write over a column."""
    if name in BUILT_IN:
        return BUILT_IN[name].title
    group, _, rest = name.partition(".")
    if group != "scalar":
        return rest
    scalar, mode, which = rest.rsplit(".", 2)
    return f"{scalar} ({mode}), {which}"


def kind_of(name: str, values: Sequence[Value]) -> Kind:
    """Return what a column holds, from its name or from its values."""
    if name in BUILT_IN:
        return BUILT_IN[name].kind
    kinds = set(map(type, values))
    if kinds == {bool}:
        return "flag"
    return "number" if kinds and kinds <= {int, float} else "text"


class _Group(NamedTuple):
    """Runs that have the same keys: where in the table they are, and a column of values for each key."""

    keys: tuple[str, ...]
    places: list[int]
    columns: list[tuple[Value, ...]]


class RunTable:
    """The runs as they were at one moment, the newest first."""

    def __init__(self, rows: Iterable[IndexedRun]) -> None:
        self.rows = sorted(rows, key=lambda row: (-(row.created or 0.0), row.folder))
        self._columns: dict[str, list[Value]] = {}

    @cached_property
    def _groups(self) -> list[_Group]:
        """The runs by the keys that they have; those of one kind share the very tuple."""
        members: dict[int, list[int]] = {}
        for i, row in enumerate(self.rows):
            members.setdefault(id(row.keys), []).append(i)
        return [
            _Group(self.rows[places[0]].keys, places, list(zip(*(self.rows[i].values for i in places), strict=True)))
            for places in members.values()
        ]

    @cached_property
    def names(self) -> dict[str, None]:
        """The names of all columns, the built-in ones first, in the order in which runs have them."""
        found = {name: None for group in self._groups for name in group.keys}
        order = ("config.", "scalar.", "identity.")
        return dict.fromkeys([*BUILT_IN, *(name for kind in order for name in found if name.startswith(kind))])

    def column(self, name: str) -> list[Value]:
        """Return the value of every run in a column, None where a run has none. Raises for a column there is not."""
        if name not in self._columns:
            if name not in self.names:
                raise self._unknown(name)
            self._columns[name] = self._values(name)
        return self._columns[name]

    def select(self, search: str, where: Sequence[str], sort: str) -> list[int]:
        """Return the places in `rows` of the runs that match, in the order asked for."""
        mask = np.ones(len(self.rows), np.bool_)
        for text in where:
            mask &= self._where(text)
        words = search.casefold().split()
        if words:
            mask &= np.fromiter((all(word in text for word in words) for text in self._texts), np.bool_, len(mask))
        return self._sorted(list(compress(range(len(self.rows)), mask)), sort)

    def known_values(self, name: str) -> list[Value]:
        """Return the values of a column without those that are missing, in no order."""
        if name in BUILT_IN:
            return [value for value in self.column(name) if value is not None]
        parts = [group.columns[group.keys.index(name)] for group in self._groups if name in group.keys]
        values = [value for part in parts for value in part]
        return [value for value in values if value is not None] if None in values else values

    def _values(self, name: str) -> list[Value]:
        if name in BUILT_IN:
            return list(map(BUILT_IN[name].value, self.rows))
        values: list[Value] = [None] * len(self.rows)
        for group in self._groups:
            if name in group.keys:
                for i, value in zip(group.places, group.columns[group.keys.index(name)], strict=True):
                    values[i] = value
        return values

    def _sorted(self, chosen: list[int], sort: str) -> list[int]:
        name, descending = (sort[1:], True) if sort.startswith("-") else (sort, False)
        values = self.column(name)
        known = [i for i in chosen if values[i] is not None]
        # Stable in both directions, so that what is equal stays with the newest first.
        known.sort(key=lambda i: sort_key(name, values[i]), reverse=descending)
        return known + [i for i in chosen if values[i] is None]

    def _where(self, text: str) -> BoolArray:
        condition = self._condition(text)
        if condition.column == "tags":
            return self._tagged(condition)
        if condition.column in ("created", "updated"):
            values = tuple(_seconds(value) for value in condition.values)
            condition = Filter(condition.column, condition.operator, values)
        return rows_where(pa.table({condition.column: _array(self.column(condition.column))}), [condition])

    def _condition(self, text: str) -> Filter:
        # Only columns that the text begins with: there may be thousands, and an error must not list them.
        bare = text.strip().removeprefix('"')
        near = [name for name in self.names if bare.startswith(name)]
        try:
            return parse_filter(text, pa.table({name: pa.nulls(0) for name in near}))
        except ConfigurationError:
            condition = parse_filter(text)
            if condition.column in self.names:
                raise
            raise self._unknown(condition.column) from None

    def _tagged(self, condition: Filter) -> BoolArray:
        """A run has many tags: a condition holds where it does for one of them; one with `not`, where for none."""
        owners = [i for i, row in enumerate(self.rows) for _ in row.tags]
        tags = pa.table({"tags": pa.array([tag for row in self.rows for tag in row.tags], pa.string())})
        negated = condition.operator.startswith("not-")
        held = rows_where(tags, [Filter("tags", condition.operator.removeprefix("not-"), condition.value)])
        mask = np.zeros(len(self.rows), np.bool_)
        mask[np.asarray(owners, np.int64)[held]] = True
        return ~mask if negated else mask

    @cached_property
    def _texts(self) -> list[str]:
        """What a search looks at."""
        return ["\n".join((row.name, row.folder, row.project, *row.tags, row.note)).casefold() for row in self.rows]

    def _unknown(self, name: str) -> ConfigurationError:
        hint = did_you_mean(name, self.names)
        return ConfigurationError(
            f"There is no column {name!r} in the table of runs.",
            hint=f"{hint} `GET /api/runs/columns` lists all {len(self.names)}.",
        )


def sort_key(name: str, value: Any) -> tuple[int, float, str]:
    """Return what a value is sorted by: numbers before texts, texts without regard to case, health by how ill."""
    if name == "health":
        return (0, float(HEALTH_ORDER.index(value)), "")
    return (1, 0.0, value.casefold()) if isinstance(value, str) else (0, value, "")


def _array(values: list[Value]) -> pa.Array:
    known = [value for value in values if value is not None]
    if known and kind_of("", known) == "text":
        return pa.array([None if value is None else _written(value) for value in values], pa.string())
    return pa.array(values)


def _written(value: Value) -> str:
    # As config.yaml has it.
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seconds(value: Any) -> Any:
    """Return a day or a moment that somebody wrote as seconds since 1970; a number is one already."""
    try:
        when = datetime.fromisoformat(str(value))
    except ValueError:
        return value
    return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()
