"""How the demo ends where somebody sits at a terminal: with the studio over its runs."""

from __future__ import annotations

import sys
from pathlib import Path

from cutaway.cli.output import Screen
from cutaway.errors import ConfigurationError

__all__ = ["end_with_the_studio"]


def end_with_the_studio(folder: Path) -> None:
    """Open the studio, unless nobody could see it: nobody waits for a page that is served to a log file."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    from cutaway.cli.studio import studio

    screen = Screen()
    screen.line()
    try:
        studio(folder)
    except ConfigurationError as error:
        screen.line(str(error))
