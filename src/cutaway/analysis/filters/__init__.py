"""Conditions on the columns of samples: as values, as text for the command line, and the rows for which they hold."""

from cutaway.analysis.filters.condition import OPERATORS, Filter
from cutaway.analysis.filters.matching import rows_where
from cutaway.analysis.filters.text import parse_filter

__all__ = ["OPERATORS", "Filter", "parse_filter", "rows_where"]
