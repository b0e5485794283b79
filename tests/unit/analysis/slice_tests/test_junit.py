"""JUnit XML that a parser reads back, whatever the tests and runs are called."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from cutaway.analysis.samples import Samples
from cutaway.analysis.slice_tests import junit_xml, parse_test, run_tests

SAMPLES = Samples.from_arrays(np.zeros((40, 1)), columns={"loss": [0.1, 0.2] * 20})
LINES = ("loss at most 0.2", "loss at most 0.1", "nothing at most 1")
HOSTILE = "]]> <b a='1'>\"&amp; \x00\x1b\x7f\x85 \ud800 \ufffe \U0001f600"


def read(content: bytes) -> ET.Element:
    return ET.fromstring(content)


def test_a_case_each_and_failures_with_figures() -> None:
    results = run_tests(SAMPLES, [parse_test(line) for line in LINES])
    root = read(junit_xml(results, suite="digits", properties={"run": "digits", "evaluation": "0"}, seconds=1.5))
    [suite] = root
    assert {key: suite.get(key) for key in ("name", "tests", "failures", "errors", "time")} == {
        "name": "digits", "tests": "3", "failures": "1", "errors": "1", "time": "1.500",
    }  # fmt: skip
    assert [(one.get("name"), one.get("value")) for one in suite.findall("properties/property")] == [
        ("run", "digits"),
        ("evaluation", "0"),
    ]
    cases = suite.findall("testcase")
    assert [one.get("name") for one in cases] == list(LINES)
    assert {one.get("time") for one in cases} == {"0.500"}
    assert [[child.tag for child in one][1:] for one in cases] == [["system-out"], ["failure"], ["error"]]
    failure = cases[1].find("failure")
    assert failure is not None
    assert "0.15 (95 % interval 0.1338 to 0.1662, n = 40) is not at most 0.1." in str(failure.get("message"))
    error = cases[2].find("error")
    assert error is not None
    assert "There is no metric 'nothing'" in str(error.get("message"))


def test_no_results_are_an_empty_suite() -> None:
    assert read(junit_xml((), suite="none")).get("tests") == "0"


@pytest.mark.parametrize("name", [HOSTILE, "<!DOCTYPE x>", "\r\n\t", "a" * 10_000])
def test_names_of_anybody_are_only_text(name: str) -> None:
    results = run_tests(SAMPLES, [parse_test("loss at most 0.1", name)])
    content = junit_xml(results, suite=name, properties={name: name})
    case = read(content).find("testsuite/testcase")
    assert case is not None
    allowed = "".join("?" if char in "\x00\x1b\ud800\ufffe" else char for char in name)
    assert case.get("name") == allowed


@given(some.text())
def test_every_text_is_well_formed(name: str) -> None:
    read(junit_xml(run_tests(SAMPLES, [parse_test("loss at most 1", name)]), suite=name, properties={"run": name}))


@given(some.text(some.characters(codec=None)))
def test_so_is_one_with_lone_surrogates(name: str) -> None:
    read(junit_xml(run_tests(SAMPLES, [parse_test("loss at most 1", name)]), suite=name))
