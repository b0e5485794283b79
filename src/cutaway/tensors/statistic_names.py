"""The names of a tensor's statistics, in the order of their columns: the one place where they are listed."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["COUNTS", "FLOATS", "STATISTIC_COLUMNS", "STATISTIC_NAMES", "StatisticName"]

# Over the finite values of a tensor; `nonfinite` counts the others. `change` is the l2 norm of the change since the
# tensor's last statistics; only weights have it.
StatisticName = Literal["nonfinite", "zeros", "min", "max", "mean", "std", "l1", "l2", "abs_min", "change"]

STATISTIC_NAMES: tuple[StatisticName, ...] = get_args(StatisticName)
COUNTS = STATISTIC_NAMES[:2]
FLOATS = STATISTIC_NAMES[2:]
STATISTIC_COLUMNS = ("size", *STATISTIC_NAMES)
