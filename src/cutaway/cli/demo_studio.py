"""How the demo ends where somebody sits at a terminal: with the studio over its runs."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlencode

from cutaway.cli.output import Screen
from cutaway.errors import ConfigurationError

__all__ = ["end_with_the_studio", "population_page"]


# The dots that the network sees among those of another digit are the labels that were planted.
_IN_SIGHT = {"color": "label", "where": "metadata.planted = true"}


def end_with_the_studio(run: Path) -> None:
    """Open the studio on the samples of a run, its planted labels in sight, with all runs beside it.

    Unless nobody could see it: nobody waits for a page that is served to a log file.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    from cutaway.cli.studio import studio

    screen = Screen()
    screen.line()
    try:
        studio(run.parent, page=population_page(run))
    except ConfigurationError as error:
        screen.line(str(error))


def population_page(run: Path) -> str:
    """Return the address of the population of a run, below the studio's own."""
    from cutaway.studio.index.places import run_id

    return f"runs/{run_id(run.name, run.name)}/population?{urlencode(_IN_SIGHT)}"
