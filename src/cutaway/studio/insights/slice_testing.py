"""The tests of runs on the page: run on what an evaluation holds, added, removed, and one run's on several runs.

Latent vectors have no part in a test, so none are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from cutaway.analysis.samples import Samples
from cutaway.analysis.slice_tests import SliceTest, TestResult, Verdict, parse_test, run_tests, slice_test_of
from cutaway.analysis.slice_tests.measuring import measure
from cutaway.errors import ConfigurationError, CutawayError
from cutaway.run.alone import writing_alone
from cutaway.run.identity import Run
from cutaway.run.layout import TESTS_FILE
from cutaway.run.plain_text import plain_text
from cutaway.run.slice_tests import WrittenTest, read_tests, with_tests, without_tests, write_tests
from cutaway.studio.answers.errors import Refusal, presentable
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.populations.the_populations import Populations
from cutaway.studio.wire.insights import NewTest, TestRow, TestsOfRun, TestsTable

__all__ = ["add_test", "drop_test", "results_of", "results_on_runs", "samples_of"]


def samples_of(loaded: Loaded) -> Samples:
    """Return the samples of an evaluation as tests take them, without latent vectors."""
    return Samples(loaded.select(loaded.own_columns), np.empty((len(loaded), 0), np.float32), loaded.classes)


def results_of(run: Run, run_id: str, loaded: Loaded) -> TestsOfRun:
    """Return the tests of a run, and what becomes of them on one of its evaluations."""
    return _results(run_id, loaded, read_tests(run.path / TESTS_FILE))


def results_on_runs(populations: Populations, runs: Sequence[tuple[str, Run]]) -> TestsTable:
    """Return the tests of the first run on the last evaluation of each run; where one has none, why not."""
    written = read_tests(runs[0][1].path / TESTS_FILE)
    return TestsTable(runs=[_on_run(populations, run_id, run, written) for run_id, run in runs])


def add_test(loaded: Loaded, wanted: NewTest) -> TestRow:
    """Write a test into the run's file, and return what becomes of it; one of the same name is replaced."""
    if bool(wanted.line.strip()) == bool(wanted.where):
        raise ConfigurationError("Give either the `line` of a test, or `where`: the conditions to make one of.")
    samples = samples_of(loaded)
    name, why = plain_text(wanted.name, 200), plain_text(wanted.why, 2000)
    if wanted.where:
        test = slice_test_of(samples, wanted.where, name=name)
    else:
        test = parse_test(wanted.line, name)
        # A column that there is not is a slip of the pen now, and a test that nothing passes later.
        measure(samples, test)
    written = WrittenTest(test.text, name, why, wanted.insight)
    path = loaded.run.path / TESTS_FILE
    with writing_alone(loaded.run):
        write_tests(path, with_tests(read_tests(path), [written]))
    return _row(written, samples)


def drop_test(run: Run, name: str) -> None:
    """Remove a test from the run's file, by its name or its line. Refused where there is none."""
    path = run.path / TESTS_FILE
    with writing_alone(run):
        there = read_tests(path)
        try:
            left = without_tests(there, [name])
        except ConfigurationError as error:
            raise Refusal(404, "no-such-test", str(error), "`GET api/runs/{run}/tests` lists them.") from error
        write_tests(path, left)


def _results(run_id: str, loaded: Loaded, written: Sequence[WrittenTest]) -> TestsOfRun:
    samples = samples_of(loaded) if written else None
    rows = [_row(one, samples) for one in written if samples is not None]
    return TestsOfRun(run=run_id, name=plain_text(loaded.run.name, 300), evaluation=loaded.number, tests=rows, error="")


def _on_run(populations: Populations, run_id: str, run: Run, written: Sequence[WrittenTest]) -> TestsOfRun:
    try:
        return _results(run_id, populations.of_run(run), written)
    except Refusal as error:
        reason = error.error
    except CutawayError as error:
        reason = str(error)
    name = plain_text(run.name, 300)
    return TestsOfRun(run=run_id, name=name, evaluation=None, tests=[], error=presentable(reason))


def _row(written: WrittenTest, samples: Samples) -> TestRow:
    try:
        [result] = run_tests(samples, [parse_test(written.line, written.name)])
    except ConfigurationError as error:
        # Somebody's file: one line that cannot be read is no reason not to run the others.
        result = TestResult(SliceTest("loss", 0.0), Verdict.NOT_JUDGED, str(error))
    return TestRow(
        **asdict(written),
        verdict=result.verdict.value,
        reason=presentable(result.reason),
        value=result.value,
        low=result.low,
        high=result.high,
        samples=result.count,
    )
