"""Conditions as people type them: `label = 4`, `loss > 1.5`, `metadata.x between 1 2`. Makes filters; applies none."""

from __future__ import annotations

import re

import pyarrow as pa

from cutaway.analysis.filters.condition import CLUSTER, OPERATORS, Filter
from cutaway.analysis.filters.matching import known_column
from cutaway.errors import ConfigurationError

__all__ = ["bare", "parse_filter"]

# Longer ones first: `not in` is no `in`, and `<=` no `<`.
_SIGNS = {
    "not between": "not-between",
    "not-between": "not-between",
    "greater-than": "greater-than",
    "less-than": "less-than",
    "not-equal": "not-equal",
    "between": "between",
    "not in": "not-in",
    "not-in": "not-in",
    "equal": "equal",
    "in": "in",
    "!=": "not-equal",
    "==": "equal",
    "=": "equal",
    ">": "greater-than",
    "<": "less-than",
}
_FOREIGN = (">=", "<=", "<>", "=~", "!~")
_WORDS = "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in _SIGNS if one[0].isalpha())
_MARKS = "|".join(re.escape(one) for one in (*_FOREIGN, *_SIGNS) if not one[0].isalpha())
# Words stand between spaces; marks need none.
_OPERATOR = re.compile(rf"\s+({_WORDS})(?=\s|$)|\s*({_MARKS})", re.IGNORECASE)
_LISTED = re.compile(r"""\s*(?:"((?:[^"]|"")*)"?([^,]*)|'([^']*)'\s*(?=,|$)|([^,]*))(,|$)""")
_CLUSTER = re.compile(r"\s*(not[\s-]+)?cluster\s+(?=[-\d])", re.IGNORECASE)


def parse_filter(text: str, table: pa.Table | None = None) -> Filter:
    """Return the condition that a text says: a column, an operator and a value or several.

    Operators are `=`, `!=`, `>`, `<`, `in 4,9`, `not in 4,9`, `between 1 2` and `not between 1 2`, or the names that
    `Filter` knows; `cluster 3` and `not cluster 3` are about clusters. Several values may stand in brackets,
    `in (4, 9)`; those with commas go in quotes. Column names may hold spaces and dots. With a `table` its columns are
    known: one whose name holds an operator is then understood, and one that there is not raises at once.

    >>> parse_filter("metadata.x between 1 2")
    Filter(column='metadata.x', operator='between', value=('1', '2'))
    >>> parse_filter("subset not in training")
    Filter(column='subset', operator='not-in', value=('training',))
    """
    cluster = _CLUSTER.match(text)
    if cluster is not None:
        operator = "not-cluster" if cluster[1] else CLUSTER
        return Filter(CLUSTER, operator, _listed(text[cluster.end() :], text))
    column, sign, rest = _cut(text, () if table is None else tuple(table.column_names))
    if table is not None:
        known_column(table, column)
    if sign in _FOREIGN:
        raise ConfigurationError(
            f"There is no operator {sign!r}, in {text!r}.",
            hint="There are =, !=, >, <, in, not in, between (both ends included) and not between.",
        )
    operator = _SIGNS[" ".join(sign.lower().split())]
    return Filter(column, operator, _value(operator, rest.strip(), text))


def _cut(text: str, known: tuple[str, ...]) -> tuple[str, str, str]:
    """Return column, operator and the rest; the longest column that the text begins with, where columns are known."""
    stripped = text.strip()
    for name in sorted(known, key=len, reverse=True):
        for written in (name, f'"{name}"'):
            found = _OPERATOR.match(stripped, len(written)) if stripped.startswith(written) else None
            if found is not None:
                return name, found[1] or found[2], stripped[found.end() :]
    found = _OPERATOR.search(stripped)
    if found is None or not found.start():
        raise ConfigurationError(
            f"{text!r} is not a condition.",
            hint=(
                "Write a column, an operator and a value, such as 'label = 4' or 'loss > 1.5'. The operators are =, "
                f"!=, >, <, and {', '.join(OPERATORS)}."
            ),
        )
    return bare(stripped[: found.start()]), found[1] or found[2], stripped[found.end() :]


def _value(operator: str, rest: str, text: str) -> str | tuple[str, ...]:
    if not rest:
        raise ConfigurationError(f"{text!r} lacks a value after its operator.")
    if operator in ("in", "not-in"):
        return _listed(rest, text)
    if operator not in ("between", "not-between"):
        return bare(rest)
    ends = _listed(rest, text) if "," in rest else _listed(",".join(re.split(r"\s+and\s+|\s+", rest)), text)
    if len(ends) != 2:
        raise ConfigurationError(
            f"{operator.replace('-', ' ')!r} needs two values, such as '1 2', but {text!r} has {len(ends)}."
        )
    return ends


def _listed(rest: str, text: str) -> tuple[str, ...]:
    """Return values between commas, also in brackets; those with commas in quotes, a double quote in them twice."""
    inside = _without_brackets(rest.strip())
    values: list[str] = []
    at = 0
    while found := _LISTED.match(inside, at):
        double, behind, single, plain, end = found.groups()
        if double is not None:
            plain = double.replace('""', '"') + behind
        values.append((single if plain is None else plain).strip())
        at = found.end()
        if not end:
            break
    if not all(values):
        raise ConfigurationError(
            f"{text!r} has a value that is empty.", hint="Separate values by commas, such as 'label in 4,9'."
        )
    return tuple(values)


def _without_brackets(text: str) -> str:
    """Return a list without the brackets around the whole of it, as Python and SQL write one."""
    closing = {"(": ")", "[": "]"}.get(text[:1])
    depth = 0
    for place, sign in enumerate(text if closing else ""):
        depth += (sign == text[0]) - (sign == closing)
        if not depth:
            return text[1:-1] if place == len(text) - 1 else text
    return text


def bare(text: str) -> str:
    """Return a text without the quotes around it."""
    stripped = text.strip()
    quoted = len(stripped) >= 2 and stripped[0] == stripped[-1] and stripped[0] in "\"'"
    return stripped[1:-1] if quoted else stripped
