"""`cutaway studio RUN --export FOLDER`: a run as files that open without a studio, and what was taken along."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cutaway.cli.options import open_run, shown_path
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from cutaway.studio.freezing import Frozen

__all__ = ["export_run", "print_to_stderr"]

_MOST_SAMPLES = 5000


def export_run(path: Path | None, folder: Path, samples: Path | None) -> None:
    """Freeze the run that was named into a folder, and say what it holds."""
    from cutaway.studio.freezing import freeze

    if path is None:
        message = "`--export` freezes one run."
        raise ConfigurationError(message, hint="Name it: cutaway studio RUN --export FOLDER")
    run = open_run(str(path))
    named = _names_in(samples) if samples is not None else None
    made = freeze(Path(run.path), folder, samples=named, say=print_to_stderr)
    _tell(made, folder)


def _names_in(file: Path) -> list[str]:
    """Return the ids of samples in a file, one a line."""
    try:
        lines = file.expanduser().read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        message = f"`--samples {file}` cannot be read: {reason}."
        raise ConfigurationError(
            message, hint="It has the id of a sample a line, as validation/12.", path=file
        ) from error
    named = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not 0 < len(named) <= _MOST_SAMPLES:
        message = (
            f"`--samples {file}` names {len(named):,} samples; between 1 and {_MOST_SAMPLES:,} can be taken along."
        )
        raise ConfigurationError(message, hint="Write the id of a sample a line, such as validation/12.", path=file)
    return named


def _tell(made: Frozen, folder: Path) -> None:
    for sentence in made.left_out:
        print_to_stderr(f"Left out: {sentence}")
    what = f"{made.answers:,} results, {made.pictures:,} pictures"
    if made.samples:
        what += f", {made.samples:,} samples in full ({made.heat_maps:,} with heat maps)"
    print_to_stderr(f"Frozen: {what}, {made.bytes / 1e6:.1f} MB.")
    print_to_stderr("It holds data of the run and of its samples: give it only to those who may see them.")
    print_to_stderr(f"Open {shown_path(folder / 'index.html')}; it needs no server and no network.")


def print_to_stderr(text: str) -> None:
    """Print a line for people: stdout carries results only."""
    typer.echo(text, err=True)
