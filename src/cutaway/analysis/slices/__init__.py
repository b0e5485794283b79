"""Slices: samples that one or two conditions pick out and that are worse than others; and columns that explain it."""

from cutaway.analysis.slices.explaining import explain_outcome
from cutaway.analysis.slices.finding import find_slices
from cutaway.analysis.slices.values import Slice, SliceSearch

__all__ = ["Slice", "SliceSearch", "explain_outcome", "find_slices"]
