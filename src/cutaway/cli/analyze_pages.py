"""How the answers of `cutaway analyze` look, as text and JSON, and how they leave as files."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rich.text import Text

from cutaway.analysis.population.names import command_name
from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.options import shown_path
from cutaway.cli.output import Screen, heading
from cutaway.cli.words import cut, number, printable, shorten
from cutaway.errors import AnalysisUnavailable, StorageError
from cutaway.run.command_words import evaluation_words
from cutaway.run.exporting import write_csv

if TYPE_CHECKING:
    from cutaway.analysis import AnalysisResult, Population

__all__ = ["parts_object", "print_begin", "print_end", "print_part", "save_part"]

MOST_ROWS = 20
MOST_JSON_ROWS = 1_000
MOST_NOTES = 6
# Text columns that are long by nature give way first.
MOST_TEXT = 40
MOST_NAME = 80
# Of a table with reasons these columns are printed, and the reason: it says in words what the others hold in numbers.
BESIDE_REASON = ("sample", "score", "label", "suggested", "between", "other", "other_label", "flip", "before", "after")
REASON = "reason"
# A sentence that names a label may be as long as the label.
MOST_LINE = 2_000


def print_begin(screen: Screen, population: Population) -> None:
    """Say what is looked at."""
    origin = population.origin
    if origin is None:
        return
    sizes = ", ".join(origin.subsets)
    screen.line(
        Text(printable(origin.evaluation.run.name), style="bold"),
        Text(
            f"  evaluation {origin.evaluation.number}, {len(population):,} samples ({printable(sizes)}), "
            f"space {printable(origin.space)} of {population.samples.latents.shape[1]} units",
            style="dim",
        ),
    )


def print_part(screen: Screen, part: AnalysisResult) -> None:
    """Print what one analysis says."""
    screen.line()
    if part.reason:
        screen.line(heading(part.title or part.analysis, f"does not apply: {part.reason}"))
        return
    screen.line(heading(part.title or part.analysis))
    for line in part.words:
        screen.line(f"  {cut(line, MOST_LINE)}")
    if part.shown is not None:
        _print_rows(screen, part.tables[part.shown])
    for note in part.notes[:MOST_NOTES]:
        screen.line(f"  {cut(note, MOST_LINE)}", style="dim")
    if len(part.notes) > MOST_NOTES:
        screen.line(f"  and {len(part.notes) - MOST_NOTES} more notes in --json", style="dim")


def print_end(screen: Screen, population: Population, analysis: str | None, files: Sequence[Path]) -> None:
    """Say where things went, and what can be asked next."""
    screen.line()
    origin = population.origin
    run = "" if origin is None else printable(evaluation_words(origin.evaluation))
    pairs: list[tuple[Cell, Cell]] = []
    if files:
        pairs.append(("written", f"{len(files)} files in {shown_path(files[0].parent)}"))
    elif analysis is None and origin is not None:
        pairs.append(("kept in", shown_path(origin.evaluation.path)))
    if not files:
        what = "" if analysis is None else f" {command_name(analysis)} ..."
        again = f"cutaway analyze {run}{what} --out DIR"
        pairs.append(("files", f"{again} writes tables and figures"))
    if analysis is None and len(population) > 1:
        sample = shlex.quote(printable(_hardest(population)))
        pairs.append(("next", f"cutaway analyze {run} similar --sample {sample}"))
    screen.pairs(pairs)


def parts_object(population: Population, parts: Sequence[AnalysisResult], files: Sequence[Path]) -> dict[str, Any]:
    """Return parts as JSON values; long tables are cut, and say how long they are."""
    origin = population.origin
    about: dict[str, Any] = {}
    if origin is not None:
        about = {
            "run": origin.evaluation.run.name,
            "evaluation": origin.evaluation.number,
            "subsets": list(origin.subsets),
            "space": origin.space,
        }
    return {
        **about,
        "samples": len(population),
        "analyses": [_object(one) for one in parts],
        "files": [shown_path(path) for path in files],
    }


def save_part(part: AnalysisResult, folder: str) -> tuple[list[Path], list[str]]:
    """Write every table as CSV and Parquet and every figure as PNG and HTML.

    Parquet holds every cell as it is; in CSV, what a spreadsheet would run is text (`exporting` says how).
    Returns where they are, and why a figure could not be drawn: that costs nothing but the figure.
    """
    import pyarrow.parquet as pq

    into = Path(folder).expanduser()
    written: list[Path] = []
    unsaid: list[str] = []
    try:
        into.mkdir(parents=True, exist_ok=True)
        for name, table in part.tables.items():
            stem = into / _stem(part.analysis, name)
            write_csv(table, stem.with_name(f"{stem.name}.csv"))
            pq.write_table(table, stem.with_name(f"{stem.name}.parquet"))
            written += [stem.with_name(f"{stem.name}.csv"), stem.with_name(f"{stem.name}.parquet")]
        for name, draw in part.figures.items():
            try:
                figure = draw()
            except AnalysisUnavailable as error:
                unsaid.append(f"No figure {name!r}: {error.reason}")
                continue
            written += [figure.save(into / f"{_stem(part.analysis, name)}.{ending}") for ending in ("png", "html")]
    except OSError as error:
        raise StorageError(f"Cannot write to {folder!r}: {error.strerror or error}.", path=folder) from error
    return written, unsaid


def _stem(analysis: str, name: str) -> str:
    """Return the name of a file without its ending: the analysis, and what it is of where that is another word."""
    words = analysis if name == analysis else f"{analysis}.{name}"
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", words)[:MOST_NAME]
    # A slash is where an id has its subset; other ids that would become one name, or a long one, are told apart.
    told = words.replace("/", "_").replace(" ", "_")
    return plain if plain == told else f"{plain}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"


def _print_rows(screen: Screen, table: pa.Table) -> None:
    if not table.num_rows:
        return
    shown = [name for name in table.column_names if not pa.types.is_nested(table[name].type)]
    if REASON in shown:
        shown = [*(name for name in BESIDE_REASON if name in shown), REASON]
    columns = [
        GridColumn(name, "left" if _is_text(table[name]) else "right", drop=0 if i < 2 else i, least=8)
        if name != REASON
        else GridColumn(name, least=20, cut="end")
        for i, name in enumerate(shown)
    ]
    rows: list[list[Cell]] = [
        [_cell(row[name], MOST_LINE if name == REASON else MOST_TEXT) for name in shown]
        for row in table.slice(0, MOST_ROWS).to_pylist()
    ]
    screen.table(columns, rows)
    if table.num_rows > MOST_ROWS:
        screen.line(f"  and {table.num_rows - MOST_ROWS:,} more rows", style="dim")


def _is_text(column: pa.ChunkedArray) -> bool:
    return not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def _cell(value: Any, most: int) -> Cell:
    if value is None:
        return "·"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    # A name says what it is at both of its ends; a sentence at its beginning.
    return cut(str(value), most) if most > MOST_TEXT else shorten(printable(str(value)[:MOST_LINE]), most)


def _object(part: AnalysisResult) -> dict[str, Any]:
    return {
        "analysis": part.analysis,
        "title": part.title or part.analysis,
        "applies": not part.reason,
        "reason": part.reason or None,
        "words": list(part.words),
        "notes": list(part.notes),
        "tables": {
            name: {"rows": table.num_rows, "first": table.slice(0, MOST_JSON_ROWS).to_pylist()}
            for name, table in part.tables.items()
        },
    }


def _hardest(population: Population) -> str:
    if not population.samples.has("loss"):
        return population.ids[0]
    losses = population.samples.numbers("loss")
    return population.ids[int(np.nan_to_num(losses, nan=-np.inf).argmax())]
