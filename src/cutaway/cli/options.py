"""What several commands take: arguments, options, and the run that a person means by RUN."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutaway.errors import RunNotFound

if TYPE_CHECKING:
    from cutaway.run import Run

__all__ = [
    "FAILED_EXIT",
    "AsJson",
    "EvaluatedRun",
    "Follow",
    "RunText",
    "Seed",
    "Subsets",
    "Trust",
    "WhichEvaluation",
    "command_run",
    "open_run",
    "shown_path",
    "user_name",
]

# What a command ends with that found something wrong.
FAILED_EXIT = 1

RunText = Annotated[str, typer.Argument(metavar="RUN", help="A folder, a name, or the unique beginning of one.")]
EvaluatedRun = Annotated[
    str, typer.Argument(metavar="RUN", help="A run with an evaluation: its folder, name or beginning.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Keep looking until the training ends.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Whatever is drawn at random repeats with it.")]
Subsets = Annotated[
    list[str] | None, typer.Option("--subset", metavar="NAME", help="Only this subset; give it again for more.")
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Open the model here, without limits: only for files that you made.")
]
WhichEvaluation = Annotated[int | None, typer.Option(metavar="N", help="Which evaluation; by default the last.")]


def open_run(text: str) -> Run:
    """Return the run at a path, of a name, or whose name or path alone begins so."""
    from cutaway.run import Run, find_run

    try:
        run = find_run(text)
    except RunNotFound:
        # `elsewhere/mnist` as the beginning of `elsewhere/mnist-20261115`.
        given = Path(text).expanduser()
        if given.name == text or not given.parent.is_dir():
            raise
        run = find_run(given.name, given.parent)
    # `.` is a run without a name until it is written out.
    return run if run.name else Run.open(run.path.resolve())


def user_name(nameless: str) -> str:
    """Return who is at work here; a container may run as a user that has no name."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return nameless


def command_run(run: Run) -> str:
    """Return how a command names a run, as it can be copied from a terminal."""
    from cutaway.cli.words import printable
    from cutaway.run.command_words import run_word

    return printable(run_word(run.path))


def shown_path(path: Path) -> str:
    """Write a path as short as it can be used from here."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
