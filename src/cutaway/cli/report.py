"""`cutaway report`: what is known about a run as one page that can be mailed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutaway.cli.options import AsJson, Seed, WhichEvaluation, open_run, shown_path
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from cutaway.analysis.report import Made, ReportContent
    from cutaway.run import Run

__all__ = ["report"]

FOLDER, FILE = "reports", "report.html"


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Its folder, name, or the beginning of its name.")],
    *,
    evaluation: WhichEvaluation = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"Where to write it; by default {FOLDER}/{FILE} in the run.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> int:
    """Write what is known about a run as one HTML page with pictures, which can be mailed.

    The page has a summary, the findings, and of an evaluation the labels that look wrong, duplicates, outliers and
    what is systematically wrong, as far as they apply; of what does not apply the reason. It is one file of at most
    5 MB that loads nothing, runs no scripts, and prints. What `cutaway analyze` kept in the run is not made again.
    """
    from cutaway.cli.progress import shown_progress
    from cutaway.cli.report_content import gather

    found = open_run(run)
    path = _place(found, out)
    with shown_progress("report") as progress:
        content = gather(found, evaluation=evaluation, seed=seed, progress=progress)
    made = _written(content, path)
    _tell(found, path, made, as_json=as_json)
    return 0


def _place(run: Run, out: Path | None) -> Path:
    if out is None:
        return run.path / FOLDER / FILE
    path = out.expanduser()
    if path.is_dir():
        raise ConfigurationError(f"{str(out)!r} is a folder.", hint=f"Give a file: `--out {out / FILE}`.")
    return path


def _written(content: ReportContent, path: Path) -> Made:
    from datetime import UTC, datetime

    from cutaway import __version__
    from cutaway.analysis.report import make_report
    from cutaway.run.whole_files import sweep_dead, whole_file

    made = make_report(content, made=datetime.now(UTC), version=__version__)
    if path.parent.is_dir():
        sweep_dead(path.parent)
    with whole_file(path) as beside:
        beside.write_text(made.html, encoding="utf-8", newline="\n")
    return made


def _tell(run: Run, path: Path, made: Made, *, as_json: bool) -> None:
    from cutaway.cli.output import Screen, emit_json
    from cutaway.cli.words import size

    if as_json:
        emit_json({"run": run.name, "file": shown_path(path), "bytes": made.size, "notes": list(made.notes)})
        return
    screen = Screen()
    screen.pairs([("written", f"{shown_path(path)} ({size(made.size)})")])
    for note in made.notes:
        screen.line(note, style="dim")
