"""Lines become tests and tests become the same lines; what is no test is said with what to write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cutaway.analysis.filters import parse_filter
from cutaway.analysis.slice_tests import SliceTest, parse_test
from cutaway.errors import ConfigurationError

NAMES = some.text(some.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters='"'), min_size=1).filter(
    lambda name: name == name.strip() and name.isprintable() and not name.startswith("'")
)
VALUES = some.sampled_from(
    ["x < 2", "label = 4", "a b != c", "m.x between 1 and 2", "label in 4,9", '"a and b" = "c and d"', "label not in a"]
)


@pytest.mark.parametrize(
    ("line", "test"),
    [
        ("accuracy where thickness < 2 at least 0.95", SliceTest("accuracy", 0.95, conditions=("thickness < 2",))),
        (
            "loss where label = 4 and metadata.ink > 10 at most 0.3",
            SliceTest("loss", 0.3, at_least=False, conditions=("label = 4", "metadata.ink > 10")),
        ),
        ("accuracy of test >= 97 %", SliceTest("accuracy", 0.97, subsets=("test",))),
        ("accuracy of test>=97%", SliceTest("accuracy", 0.97, subsets=("test",))),
        ("Error Rate <= 3.7 %", SliceTest("error", 0.037, at_least=False)),
        ("  loss   AT  MOST  -1e-3 ", SliceTest("loss", -0.001, at_least=False)),
        (
            "median loss of validation and test at most .5 with at least 7 samples",
            SliceTest("loss", 0.5, False, ("validation", "test"), average="median", min_samples=7),
        ),
        ("mean loss at most 1 with at least 1 sample", SliceTest("loss", 1, at_least=False, min_samples=1)),
        (
            "metric.iou where metadata.x between 1 and 2 and y = a at least 0",
            SliceTest("metric.iou", 0, conditions=("metadata.x between 1 and 2", "y = a")),
        ),
        (
            'accuracy where "a and b" = "at least 3 and where" at least 0.5',
            SliceTest("accuracy", 0.5, conditions=('"a and b" = "at least 3 and where"',)),
        ),
        (
            "accuracy where x = it's and y = dog's at least 1",
            SliceTest("accuracy", 1, conditions=("x = it's", "y = dog's")),
        ),
        ('"metric.of all" of "my part" at least 2', SliceTest("metric.of all", 2, subsets=("my part",))),
        ("accuracy where cluster 3 at least 0.9", SliceTest("accuracy", 0.9, conditions=("cluster 3",))),
    ],
)
def test_a_line_says_a_test_and_the_test_says_it_back(line: str, test: SliceTest) -> None:
    assert parse_test(line) == test
    assert parse_test(test.text) == test


@given(
    metric=NAMES,
    bound=some.floats(allow_nan=False, allow_infinity=False),
    at_least=some.booleans(),
    subsets=some.lists(NAMES, max_size=2),
    conditions=some.lists(VALUES, max_size=3),
    average=some.sampled_from(["mean", "median"]),
    few=some.integers(1, 10**9),
)
def test_every_test_reads_back_from_its_line(
    metric: str, bound: float, at_least: bool, subsets: list[str], conditions: list[str], average: str, few: int
) -> None:
    if metric.lower() in ("accuracy", "error", "error rate"):
        metric = "loss"
    test = SliceTest(metric, bound, at_least, tuple(subsets), tuple(conditions), average, few)
    assert parse_test(test.text) == test


@given(some.text(max_size=60))
def test_no_text_does_more_than_to_be_refused(text: str) -> None:
    try:
        test = parse_test(text)
    except ConfigurationError:
        return
    assert parse_test(test.text) == test


@given(
    some.lists(
        some.sampled_from(["accuracy", "of", "where", "and", "x", "=", "4", "at least", '"', "'", "0.5", ">="]),
        max_size=14,
    )
)
def test_no_order_of_the_words_does_more_than_to_be_refused(words: list[str]) -> None:
    try:
        test = parse_test(" ".join(words))
    except ConfigurationError:
        return
    assert parse_test(test.text) == test
    for one in test.conditions:
        parse_filter(one)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "does not end with a bound"),
        ("accuracy", "does not end with a bound"),
        ("accuracy at least good", "does not end with a bound"),
        ("at least 3", "does not end with a bound"),
        ("accuracy at least nan", "does not end with a bound"),
        ("loss at most 1e999", "does not end with a bound|must be a number"),
        ("accuracy at least 95", "Write 0.95 or '95 %'"),
        ("accuracy at least -0.1", "lies between 0 and 1"),
        ("accuracy at least 950 %", "lies between 0 and 1"),
        ("median accuracy at least 0.5", "has no median"),
        ("accuracy where x at least 0.5", "'x' is not a condition"),
        ("accuracy where x >= 3 at least 0.5", "no operator '>='"),
        ("accuracy where x = black and white at least 0.5", "'white' is not a condition.*in double quotes"),
        ("accuracy of a of b at least 0.5", "says 'of' twice"),
        ("accuracy at least 0.5 with at least 0 samples", "`min_samples >= 1` must hold"),
        ("accuracy\nat least 0.5", "one line of printable characters"),
        ("accuracy \x1b[31m at least 0.5", "one line of printable characters"),
        ("accuracy where x = \ud800 at least 0.5", "one line of printable characters"),
        ("a" * 2000 + " at least 0.5", "at most 1000 characters"),
        ('a"b at least 0.5', "double quote"),
    ],
)
def test_what_is_no_test_is_said_with_what_to_write(line: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        parse_test(line)


def test_a_name_is_no_part_of_the_line() -> None:
    test = parse_test("accuracy at least 0.5", "all of it")
    assert (test.title, test.text) == ("all of it", "accuracy at least 0.5")
    assert parse_test("accuracy at least 0.5").title == "accuracy at least 0.5"


@pytest.mark.parametrize(("line", "value", "meets"), [("loss at most 1", 1.0, True), ("loss at least 1", 0.9, False)])
def test_the_bound_itself_is_within_it(line: str, value: float, meets: bool) -> None:
    assert parse_test(line).meets(value) is meets
    assert parse_test(line).meets(float("nan")) is False
