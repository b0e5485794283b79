"""Tests that are added and removed: lines of people, and the weak slices of insights. Runs only what it adds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from cutaway.analysis import Population
    from cutaway.analysis.samples import Samples
    from cutaway.analysis.slice_tests import TestResult
    from cutaway.run.slice_tests import WrittenTest

__all__ = ["Edits", "edit_tests", "insight_tests"]


@dataclass(frozen=True)
class Edits:
    """What becomes of a file of tests; it is false where nothing does."""

    lines: tuple[str, ...] = ()
    name: str = ""
    why: str = ""
    remove: tuple[str, ...] = ()
    insights: bool = False

    def __bool__(self) -> bool:
        return bool(self.lines or self.remove or self.insights)


def edit_tests(run: str, path: Path, edits: Edits, *, evaluation: int | None, as_json: bool) -> int:
    """Change a file of tests, and show what the run reaches in the new ones."""
    from cutaway.cli.options import shown_path
    from cutaway.cli.output import Screen, emit_json
    from cutaway.cli.test_pages import print_edits, result_object
    from cutaway.run.slice_tests import read_tests, with_tests, without_tests, write_tests

    kept = without_tests(read_tests(path), edits.remove)
    new, results, notes = _new(run, edits, evaluation) if edits.lines or edits.insights else ((), (), ())
    whole = with_tests(kept, new)
    write_tests(path, whole)
    if as_json:
        emit_json(
            {
                "file": str(path),
                "added": [result_object(one) for one in results],
                "removed": list(edits.remove),
                "tests": len(whole),
                "notes": list(notes),
            }
        )
    else:
        end = f"{shown_path(path)} has {counted(len(whole), 'test')} now."
        print_edits(Screen(), run, results, edits.remove, notes=notes, end=end)
    return 0


def _new(
    run: str, edits: Edits, evaluation: int | None
) -> tuple[tuple[WrittenTest, ...], tuple[TestResult, ...], tuple[str, ...]]:
    """Return the new tests, what the run reaches in them, and why an insight became none."""
    from cutaway.analysis import Population
    from cutaway.analysis.slice_tests import parse_test, run_tests
    from cutaway.analysis.slice_tests.measuring import measure
    from cutaway.cli.options import open_run
    from cutaway.run.slice_tests import WrittenTest

    lines = [parse_test(line, edits.name) for line in edits.lines]
    written = [WrittenTest(one.text, one.name, edits.why) for one in lines]
    notes: tuple[str, ...] = ()
    with Population.open(open_run(run), evaluation=evaluation) as population:
        for one in lines:
            # A column that there is not is a slip of the pen now, and a test that nothing passes later.
            measure(population.samples, one)
        if edits.insights:
            found, notes = insight_tests(population.samples, _insights(population))
            written += found
        tests = [parse_test(one.line, one.name) for one in written]
        return tuple(written), run_tests(population.samples, tests), notes


def _insights(population: Population) -> pa.Table:
    from cutaway.cli.progress import shown_progress

    try:
        with shown_progress("test") as progress:
            return population.insights(progress=progress)
    except AnalysisUnavailable as error:
        raise ConfigurationError("There are no insights to make tests of.", hint=str(error)) from error


def insight_tests(samples: Samples, insights: pa.Table) -> tuple[list[WrittenTest], tuple[str, ...]]:
    """Return a test for each insight that names a weak slice, and why others became none.

    `insights` has the columns `kind`, `where` (conditions joined by `and`), `measure` (error or loss) and `reason`.
    """
    from cutaway.analysis.slice_tests import insight_test_of
    from cutaway.run.slice_tests import WrittenTest

    made, notes = [], []
    for row in insights.to_pylist():
        try:
            test = insight_test_of(samples, row)
        except ConfigurationError as error:
            notes.append(f"No test of {row['where']}: {error}")
        else:
            if test is not None:
                made.append(WrittenTest(test.text, why=_as_one_line(row["reason"]), insight=True))
    if not made and not notes:
        notes.append("No insight names a weak slice, so there is no test to add.")
    return made, tuple(notes)


def _as_one_line(words: str) -> str:
    """Return words as one line of printable characters, as a file of tests has them."""
    return " ".join("".join(char if char.isprintable() else " " for char in words).split())
