"""`Filter`: one condition on a column. Checks its own shape; knows no table and no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutaway.errors import ConfigurationError, refuse_unknown

__all__ = ["CLUSTER", "OPERATORS", "Filter", "plain_operator"]

CLUSTER = "cluster"
# What each operator takes: one value, two ends, or any number of values.
_TAKES = {
    "between": 2,
    "not-between": 2,
    "equal": 1,
    "not-equal": 1,
    "in": None,
    "not-in": None,
    "greater-than": 1,
    "less-than": 1,
    "cluster": None,
    "not-cluster": None,
}
OPERATORS = tuple(_TAKES)


@dataclass(frozen=True)
class Filter:
    """A condition: `column` stands in the relation `operator` to `value`.

    `equal`, `not-equal`, `greater-than` and `less-than` take one value. `between` and `not-between` take two, and both
    ends lie between them. `in`, `not-in`, `cluster` and `not-cluster` take any number; the last two are about the
    column `cluster`. A value is compared as the column's type: the text `4` is the number 4 in a column of numbers.

    >>> Filter("label", "in", (4, 9))
    Filter(column='label', operator='in', value=(4, 9))
    """

    column: str
    operator: str
    value: Any

    def __post_init__(self) -> None:
        operator = self.operator
        refuse_unknown("operator", operator, OPERATORS)
        if operator.endswith(CLUSTER) and self.column != CLUSTER:
            raise ConfigurationError(f"{operator!r} is about column 'cluster', but got column={self.column!r}.")
        count, takes = len(self.values), _TAKES[operator]
        if (takes is None and not count) or (takes is not None and count != takes):
            wanted = "at least one value" if takes is None else "one value" if takes == 1 else "two values"
            raise ConfigurationError(f"{operator!r} needs {wanted}, but got {self.value!r}.")

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, also where it is one."""
        return tuple(self.value) if isinstance(self.value, tuple | list | set | frozenset) else (self.value,)


def plain_operator(operator: str) -> tuple[str, bool]:
    """Return the operator without its `not-`, and whether it had one.

    >>> plain_operator("not-between"), plain_operator("in")
    (('between', True), ('in', False))
    """
    return operator.removeprefix("not-"), operator.startswith("not-")
