"""Conditions on the columns of samples: as values, as text for the command line, and the rows for which they hold."""

from cutaway.analysis.filters.condition import OPERATORS, Filter
from cutaway.analysis.filters.matching import rows_where
from cutaway.analysis.filters.text import parse_filter
from cutaway.analysis.filters.unknown import refuse_unknown_values

__all__ = ["OPERATORS", "Filter", "parse_filter", "refuse_unknown_values", "rows_where"]
