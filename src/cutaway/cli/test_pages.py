"""How `cutaway test` looks: a table of tests with value, interval, bound and verdict, and why one was not passed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from rich.text import Text

from cutaway.analysis.slice_tests import SliceTest, TestResult, Verdict, parse_test
from cutaway.analysis.slice_tests.measuring import HELD_OUT
from cutaway.analysis.slice_tests.running import figure
from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.options import shown_path
from cutaway.cli.output import Screen
from cutaway.cli.words import number, printable
from cutaway.errors import ConfigurationError
from cutaway.run.slice_tests import WrittenTest
from cutaway.wording import counted

__all__ = [
    "TestResultsPage",
    "page_object",
    "parsed_tests",
    "print_edits",
    "print_page",
    "print_tests",
    "result_object",
    "test_object",
]

STYLES = {Verdict.PASSED: "green", Verdict.FAILED: "bold red", Verdict.NOT_JUDGED: "bold yellow"}


@dataclass(frozen=True)
class TestResultsPage:
    """Everything that is told: the run, its evaluation, the file of tests, the results and those of a baseline."""

    run: str
    evaluation: int
    path: Path
    results: tuple[TestResult, ...]
    before: tuple[TestResult, ...] | None
    baseline: str
    confident: bool

    @property
    def rule(self) -> str:
        """When a test is passed, in words."""
        return "the whole 95 % interval meets the bound" if self.confident else "the value meets the bound"


def parsed_tests(path: Path, written: Sequence[WrittenTest]) -> tuple[SliceTest, ...]:
    """Return the tests that lines say. Raises with the file and the number of the line that says none."""
    found = []
    for place, one in enumerate(written, 1):
        try:
            found.append(parse_test(one.line, one.name))
        except ConfigurationError as error:
            raise ConfigurationError(f"{shown_path(path)}: test {place} cannot be read: {error}") from error
    return tuple(found)


def print_page(screen: Screen, page: TestResultsPage) -> None:
    """Print the results."""
    head = Text(printable(page.run), style="bold")
    subsets = list(dict.fromkeys(name for one in page.results if not one.test.subsets for name in one.subsets))
    none = "" if set(subsets) & set(HELD_OUT) else ", since nothing is held out"
    looked = f"; tests without 'of' look at {' and '.join(subsets)}{none}" if subsets else ""
    head.append(f"  evaluation {page.evaluation}, {counted(len(page.results), 'test')}{looked}", style="not bold dim")
    screen.line(head)
    before = page.before or (None,) * len(page.results)
    _print_results(screen, list(zip(page.results, before, strict=True)), page.baseline)
    for one in page.results:
        if not one.passed:
            screen.line()
            screen.line(Text(f"{one.verdict}: ", style=STYLES[one.verdict]), one.test.title)
            screen.line("  ", one.reason)
    screen.line()
    screen.line(_verdict(page))


def print_tests(screen: Screen, path: Path, written: Sequence[WrittenTest]) -> None:
    """Print tests that were not run."""
    screen.line(f"{counted(len(written), 'test')} in {shown_path(path)}", style="bold")
    columns = [
        GridColumn("name", drop=1, least=12),
        GridColumn("test", least=30),
        GridColumn("why", drop=2, least=20, cut="end"),
    ]
    screen.table(columns, [[one.name, one.line, Text(printable(_why(one)), style="dim")] for one in written])


def print_edits(
    screen: Screen, run: str, added: Sequence[TestResult], removed: Sequence[str], *, notes: Sequence[str], end: str
) -> None:
    """Print what was added and removed, and what the run reaches in the new tests."""
    for one in removed:
        screen.line("removed  ", one)
    if added:
        screen.line(f"added {counted(len(added), 'test')}; what {run} reaches now:", style="bold")
        _print_results(screen, [(one, None) for one in added], "")
    for note in notes:
        screen.line(note, style="dim")
    screen.line(end, style="dim")


def test_object(test: WrittenTest) -> dict[str, Any]:
    """Return a test as JSON has it."""
    return {"name": test.name, "line": test.line, "why": test.why, "insight": test.insight}


def result_object(result: TestResult) -> dict[str, Any]:
    """Return a result as JSON has it: null for figures that there are not."""
    figures = {"value": result.value, "low": result.low, "high": result.high}
    return {
        "name": result.test.name,
        "line": result.test.text,
        "verdict": str(result.verdict),
        "reason": result.reason,
        **{key: value if isfinite(value) else None for key, value in figures.items()},
        "bound": result.test.bound,
        "at_least": result.test.at_least,
        "samples": result.count,
        "missing": result.missing,
        "subsets": list(result.subsets),
        "confident": result.confident,
    }


def page_object(page: TestResultsPage) -> dict[str, Any]:
    """Return everything as JSON has it."""
    tests = [result_object(one) for one in page.results]
    for one, before in zip(tests, page.before or (), strict=False):
        one["baseline"] = before.value if isfinite(before.value) else None
    return {
        "run": page.run,
        "evaluation": page.evaluation,
        "file": str(page.path),
        "rule": page.rule,
        "passed": all(one.passed for one in page.results),
        **({"baseline": page.baseline} if page.baseline else {}),
        "tests": tests,
    }


def _print_results(screen: Screen, rows: Sequence[tuple[TestResult, TestResult | None]], baseline: str) -> None:
    columns = [
        GridColumn("test", least=24),
        GridColumn("value", "right"),
        GridColumn("95 % interval", "right", drop=1),
        *([GridColumn(printable(baseline), "right", drop=2)] if baseline else []),
        GridColumn("bound", "right"),
        GridColumn("samples", "right", drop=3),
        GridColumn("verdict"),
    ]
    screen.table(columns, [_result_row(one, before, named=bool(baseline)) for one, before in rows])


def _result_row(one: TestResult, before: TestResult | None, *, named: bool) -> list[Cell]:
    was = [] if not named else ["·" if before is None or not before.count else figure(one.test, before.value)]
    return [
        one.test.name or one.test.subject,
        figure(one.test, one.value) if one.count else "·",
        f"{number(one.low)} to {number(one.high)}" if isfinite(one.low) else "·",
        *was,
        one.test.bound_text,
        f"{one.count:,}" if one.subsets else "·",
        Text(f"{one.verdict}{'' if one.confident or not one.passed else ' (close)'}", style=STYLES[one.verdict]),
    ]


def _verdict(page: TestResultsPage) -> Text:
    counts = [(verdict, sum(one.verdict is verdict for one in page.results)) for verdict in Verdict]
    told = ", ".join(f"{many} {verdict}" for verdict, many in counts if many)
    fine = all(one.passed for one in page.results)
    text = Text(told, style="bold green" if fine else "bold red")
    close = sum(one.passed and not one.confident for one in page.results)
    sure = f" {close} of those passed may be chance: the interval reaches past the bound." if close else ""
    return text.append(f". A test is passed where {page.rule}.{sure}", style="not bold default")


def _why(test: WrittenTest) -> str:
    return f"insight: {test.why}" if test.insight and test.why else "insight" if test.insight else test.why
