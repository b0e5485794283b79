"""Samples that are in the population twice, or nearly so, and those that are in two subsets."""

from cutaway.analysis.doubles.duplicates import find_duplicates
from cutaway.analysis.doubles.leakage import find_leakage

__all__ = ["find_duplicates", "find_leakage"]
