"""`cutaway test`: whether a model reaches what was asked of it, slice by slice; the exit code is for CI."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutaway.cli.options import FAILED_EXIT, AsJson, EvaluatedRun, WhichEvaluation, open_run, shown_path
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from cutaway.analysis.slice_tests import SliceTest, TestResult
    from cutaway.cli.test_editing import Edits
    from cutaway.cli.test_pages import TestResultsPage
    from cutaway.run.slice_tests import WrittenTest

__all__ = ["judge"]

_Text = str | None


def judge(
    run: EvaluatedRun,
    *,
    tests: Annotated[
        _Text, typer.Option(metavar="FILE", help="Tests of this file; by default tests.yaml of the run.")
    ] = None,
    from_run: Annotated[_Text, typer.Option("--from", metavar="RUN", help="Tests of another run.")] = None,
    evaluation: WhichEvaluation = None,
    confident: Annotated[
        bool, typer.Option("--confident", help="Pass only where the whole 95 % interval meets the bound.")
    ] = False,
    baseline: Annotated[_Text, typer.Option(metavar="RUN", help="Show what this run reaches beside it.")] = None,
    junit: Annotated[_Text, typer.Option(metavar="FILE", help="Write the results as JUnit XML.")] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINE", help="Add a test such as 'accuracy where label = 4 at least 0.95'; again for more."
        ),
    ] = None,
    name: Annotated[_Text, typer.Option(metavar="NAME", help="With --add: what the test is called.")] = None,
    why: Annotated[_Text, typer.Option(metavar="TEXT", help="With --add: why there is this test.")] = None,
    add_insights: Annotated[
        bool, typer.Option("--add-insights", help="Add a test for each weak slice that insights found.")
    ] = False,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Remove the test of this name or line; again for more.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show the tests and run none.")] = False,
    as_json: AsJson = False,
) -> int:
    """Run the tests of a model: what it must reach, on all samples or on a slice of them.

    A test is a line: METRIC [of SUBSET] [where CONDITION [and CONDITION]] at least|at most NUMBER. The metric is
    accuracy, error, loss, metric.NAME or another column of numbers, 'median' before it where wanted. Without 'of' the
    held-out subsets count, validation and test. Ends with 0 when all tests passed, with 1 when one failed or could not
    be judged: its column or subset is missing, or the slice has fewer than 20 samples ('with at least N samples').

    \b
    cutaway test mnist --add 'accuracy where thickness < 2 at least 95 %'
    cutaway test mnist --add-insights                               the weak slices that insights found
    cutaway test mnist                                              run them
    cutaway test mnist-2 --from mnist --baseline mnist              a later run, beside the first
    cutaway test mnist-2 --tests tests.yaml --junit results.xml     in CI, with the tests in the repository
    """
    from cutaway.cli.test_editing import Edits, edit_tests

    edits = Edits(tuple(add or ()), name or "", why or "", tuple(remove or ()), insights=add_insights)
    running = bool(confident or baseline or junit)
    _refuse_mixtures(edits=edits, listed=listed, running=running, from_run=from_run, tests=tests)
    path = _tests_path(run, tests, from_run)
    if edits:
        return edit_tests(run, path, edits, evaluation=evaluation, as_json=as_json)
    written = _read_tests(run, path, tests is not None)
    if listed:
        return _show_tests(path, written, as_json=as_json)
    asked = TestRequest(run, path, evaluation, baseline, junit, confident)
    return _judged(asked, written, as_json=as_json)


@dataclass(frozen=True)
class TestRequest:
    """Which run is judged by which file of tests, and how."""

    run: str
    path: Path
    evaluation: int | None
    baseline: str | None
    junit: str | None
    confident: bool


def _refuse_mixtures(*, edits: Edits, listed: bool, running: bool, from_run: str | None, tests: str | None) -> None:
    """Refuse options that ask for two things at once, or belong to one that was not asked for."""
    if from_run is not None and tests is not None:
        raise ConfigurationError("`--tests` and `--from` both say where the tests are.", hint="Give one of them.")
    if edits and (listed or running):
        raise ConfigurationError(
            "`--add`, `--add-insights` and `--remove` change the tests and run none.",
            hint="Run them with another command.",
        )
    if listed and running:
        raise ConfigurationError("`--list` runs no tests.", hint="Leave it out, or leave out what is about results.")
    if edits and from_run is not None:
        raise ConfigurationError(
            "`--from` takes the tests of another run and changes none.", hint="Give that run as RUN."
        )
    if (edits.name or edits.why) and len(edits.lines) != 1:
        raise ConfigurationError("`--name` and `--why` are about one test.", hint="Give one `--add` with them.")


def _tests_path(run: str, tests: str | None, from_run: str | None) -> Path:
    from cutaway.run.layout import TESTS_FILE

    return Path(tests) if tests is not None else open_run(from_run or run).path / TESTS_FILE


def _read_tests(run: str, path: Path, in_file: bool) -> tuple[WrittenTest, ...]:  # noqa: FBT001 - one of two places
    """Return the tests, of which there must be one: a gate without any would let everything through."""
    from cutaway.run.slice_tests import read_tests

    written = read_tests(path)
    if not written:
        where = f" --tests {shown_path(path)}" if in_file else ""
        there = "has no tests" if path.exists() else "is not there, so there are no tests"
        raise ConfigurationError(
            f"{shown_path(path)} {there}.", hint=f"Add one: `cutaway test {run}{where} --add 'accuracy at least 0.9'`."
        )
    return written


def _show_tests(path: Path, written: tuple[WrittenTest, ...], *, as_json: bool) -> int:
    from cutaway.cli.output import Screen, emit_json
    from cutaway.cli.test_pages import print_tests, test_object

    if as_json:
        emit_json({"file": str(path), "tests": [test_object(one) for one in written]})
    else:
        print_tests(Screen(), path, written)
    return 0


def _judged(asked: TestRequest, written: tuple[WrittenTest, ...], *, as_json: bool) -> int:
    from cutaway.analysis import Population
    from cutaway.analysis.slice_tests import run_tests
    from cutaway.cli.output import Screen, emit_json
    from cutaway.cli.test_pages import TestResultsPage, page_object, parsed_tests, print_page

    tests = parsed_tests(asked.path, written)
    began = time.perf_counter()
    opened = open_run(asked.run)
    with Population.open(opened, evaluation=asked.evaluation) as population:
        results = run_tests(population.samples, tests, confident=asked.confident)
        number = population.origin.evaluation.number if population.origin else 0
    before = None if asked.baseline is None else _baseline(asked.baseline, tests)
    page = TestResultsPage(
        opened.name, number, asked.path, results, before, asked.baseline or "", confident=asked.confident
    )
    if asked.junit is not None:
        _write_junit(Path(asked.junit), page, time.perf_counter() - began)
    if as_json:
        emit_json(page_object(page))
    else:
        print_page(Screen(), page)
    return 0 if all(one.passed for one in results) else FAILED_EXIT


def _baseline(run: str, tests: Sequence[SliceTest]) -> tuple[TestResult, ...]:
    from cutaway.analysis import Population
    from cutaway.analysis.slice_tests import run_tests

    with Population.open(open_run(run)) as population:
        return run_tests(population.samples, tests)


def _write_junit(path: Path, page: TestResultsPage, seconds: float) -> None:
    from cutaway.analysis.slice_tests import junit_xml
    from cutaway.run.whole_files import whole_file

    about = {"run": page.run, "evaluation": str(page.evaluation), "rule": page.rule}
    content = junit_xml(page.results, suite=f"cutaway.{page.run}", properties=about, seconds=seconds)
    with whole_file(path) as beside:
        beside.write_bytes(content)
