"""Tests on slices: what a model must reach on some of the samples, as a line that later runs pass or fail."""

from cutaway.analysis.slice_tests.from_slice import conditions_of, insight_test_of, slice_test_of
from cutaway.analysis.slice_tests.junit import junit_xml
from cutaway.analysis.slice_tests.running import TestResult, Verdict, run_tests
from cutaway.analysis.slice_tests.slice_test import SliceTest
from cutaway.analysis.slice_tests.text import parse_test

__all__ = [
    "SliceTest",
    "TestResult",
    "Verdict",
    "conditions_of",
    "insight_test_of",
    "junit_xml",
    "parse_test",
    "run_tests",
    "slice_test_of",
]
