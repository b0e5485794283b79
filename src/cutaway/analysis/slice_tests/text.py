"""Tests as people type them: `accuracy of test where label = 4 at least 95 %`. Makes tests; knows no samples."""

from __future__ import annotations

import re
from decimal import Decimal

from cutaway.analysis.filters import parse_filter
from cutaway.analysis.filters.text import bare
from cutaway.analysis.slice_tests.slice_test import AVERAGES, FEWEST, SliceTest
from cutaway.errors import ConfigurationError

__all__ = ["LONGEST", "parse_test"]

LONGEST = 1000
# What people call the two shares, and what they may write for the bound.
_OTHER_NAMES = {"error rate": "error"}
_LEAST = ("at least", ">=")
_BOUND = re.compile(
    r"(?s)^(?P<head>.*\S)\s*(?P<sign>(?<=\s)at\s+least|(?<=\s)at\s+most|>=|<=)"
    r"\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?)\s*(?P<percent>%)?"
    r"(?:\s+with\s+at\s+least\s+(?P<few>\d{1,12})\s+samples?)?\s*$",
    re.IGNORECASE,
)
# Quotes count where a value or a name begins, so that the one in `it's` opens nothing.
_QUOTED = re.compile(r"""(?:^|(?<=[\s,=<>]))(?:"[^"]*"|'[^']*')(?=[\s,=<>!]|$)""")
_WHERE, _OF, _AND = (re.compile(rf"\s+{word}\s+", re.IGNORECASE) for word in ("where", "of", "and"))
# `between 1 and 2` is one condition.
_HALF = re.compile(r"\sbetween\s+[^\s,]+$", re.IGNORECASE)
_HINT = (
    "A test is a metric, conditions and a bound, such as 'accuracy where thickness < 2 at least 0.95' or 'loss of test "
    "where label = 4 and metadata.ink > 10 at most 0.3'."
)


def parse_test(text: str, name: str = "") -> SliceTest:
    """Return the test that a line says: METRIC [of SUBSET] [where CONDITION [and CONDITION]] at least|at most NUMBER.

    The metric is `accuracy`, `error`, `loss`, `metric.NAME` or another column of numbers; `median` before it takes the
    median in place of the mean. `>=` and `<=` may stand for the words, and `95 %` for 0.95. At the end `with at least
    50 samples` says below how many samples the test cannot be judged. Names and values that hold spaces with `and`,
    `of` or `where` between them go in double quotes.

    >>> parse_test("loss of test where label = 4 and metadata.ink > 10 at most 0.3").conditions
    ('label = 4', 'metadata.ink > 10')
    """
    line = text.strip()
    if len(line) > LONGEST:
        raise ConfigurationError(f"A test has at most {LONGEST} characters, but this one {len(line)}.", hint=_HINT)
    if any(not char.isprintable() for char in line):
        raise ConfigurationError(f"A test is one line of printable characters, but got {line!r}.", hint=_HINT)
    hidden = _hide(line)
    found = _BOUND.match(hidden)
    if found is None:
        raise ConfigurationError(f"{line!r} does not end with a bound, such as 'at least 0.95'.", hint=_HINT)
    head = line[: found.end("head")]
    what, conditions = _parts(head, hidden[: len(head)], text)
    metric, subsets, average = _metric(what, line)
    number = Decimal(found["number"]) / (100 if found["percent"] else 1)
    return SliceTest(
        metric,
        float(number),
        at_least=" ".join(found["sign"].lower().split()) in _LEAST,
        subsets=subsets,
        conditions=conditions,
        average=average,
        min_samples=FEWEST if found["few"] is None else int(found["few"]),
        name=name,
    )


def _hide(line: str) -> str:
    """Return the line with what stands in quotes blotted out, so that no word in there is taken for ours."""
    return _QUOTED.sub(lambda found: "\0" * len(found[0]), line)


def _parts(head: str, hidden: str, text: str) -> tuple[str, tuple[str, ...]]:
    found = _WHERE.search(hidden)
    if found is None:
        return head, ()
    conditions: list[str] = []
    for piece in _split(head[found.end() :], _AND):
        if conditions and _HALF.search(conditions[-1]):
            conditions[-1] += f" and {piece}"
        else:
            conditions.append(piece)
    for one in conditions:
        try:
            parse_filter(one)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"{error} It stands in the test {text.strip()!r}; a value that holds 'and' goes in double quotes."
            ) from error
    return head[: found.start()], tuple(conditions)


def _metric(what: str, line: str) -> tuple[str, tuple[str, ...], str]:
    """Return the metric, the subsets and the average of what stands before `where` and the bound."""
    before, *after = _split(what, _OF)
    if len(after) > 1:
        raise ConfigurationError(f"{line!r} says 'of' twice.", hint=_HINT)
    subsets = tuple(bare(one) for one in _split(after[0], _AND)) if after else ()
    first, _, rest = before.partition(" ")
    average = first.lower() if first.lower() in AVERAGES and rest.strip() else "mean"
    metric = bare(rest if first.lower() in AVERAGES and rest.strip() else before)
    if not metric or not all(subsets):
        raise ConfigurationError(f"{line!r} lacks the metric, or a name after 'of'.", hint=_HINT)
    return _OTHER_NAMES.get(metric.lower(), metric), subsets, average


def _split(text: str, word: re.Pattern[str]) -> list[str]:
    """Split at a word of ours, outside quotes."""
    pieces, start = [], 0
    for found in word.finditer(_hide(text)):
        pieces.append(text[start : found.start()].strip())
        start = found.end()
    return [*pieces, text[start:].strip()]
