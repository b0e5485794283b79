"""What a person writes for RUN, and the run that they mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cutaway.errors import RunNotFound

if TYPE_CHECKING:
    from cutaway.run import Run

__all__ = ["open_run", "shown_path"]


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


def shown_path(path: Path) -> str:
    """Write a path as short as it can be used from here."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
