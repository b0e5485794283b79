"""`cutaway demo`: prints what the demo tells, and ends with the studio where somebody sits at a terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from cutaway.cli.options import shown_path
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from cutaway.trial.summary import Facts

__all__ = ["demo", "end_with_the_studio", "population_page"]

# The dots that the network sees among those of another digit are the labels that were planted.
_IN_SIGHT = {"color": "label", "where": "metadata.planted = true"}
# More take minutes, and tell hardly more.
MOST_SEEDS = 1_000


def demo(
    *,
    epochs: Annotated[int, typer.Option(help="How long to train.")] = 30,
    seeds: Annotated[
        int, typer.Option(help="How often wrong labels are planted and fixed; fewer are quicker, and tell less.")
    ] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print what it saw as one JSON object.")] = False,
) -> None:
    """Train a small network on handwritten digits, here, in about half a minute, and tell what the hook saw.

    Then the same network with one sick layer, and which rule caught it; and with wrong labels, which of them were found
    and what fixing them bought. In a terminal it ends with the studio, the page over all of it.
    """
    from cutaway.cli.demo_pages import print_report
    from cutaway.cli.output import Screen, emit_json
    from cutaway.demo import tell

    if epochs < 1:
        raise ConfigurationError(
            f"`--epochs >= 1` must hold, but got --epochs {epochs}.", hint="`cutaway demo` takes 30."
        )
    if not 2 <= seeds <= MOST_SEEDS:
        raise ConfigurationError(
            f"`2 <= --seeds <= {MOST_SEEDS}` must hold, but got --seeds {seeds}.", hint="`cutaway demo` takes 20."
        )
    say = Screen(stderr=True).line
    say("Loading PyTorch and scikit-learn's 1,797 digits of 8 x 8 pixels ...")
    seen = tell(epochs, say, seeds=seeds)
    report = _paths_shown(seen)
    report["next"] = [f"cutaway tensors {report['path']}", f"cutaway runs show {report['path']}"]
    if as_json:
        emit_json(report)
    else:
        print_report(report)
        end_with_the_studio(seen["labels"]["path"])


def _paths_shown(facts: Facts) -> Facts:
    """Write every path as short as it can be used from here."""
    shown = {key: _paths_shown(value) if isinstance(value, dict) else value for key, value in facts.items()}
    return {key: shown_path(value) if isinstance(value, Path) else value for key, value in shown.items()}


def end_with_the_studio(run: Path) -> None:
    """Open the studio on the samples of a run, its planted labels in sight, with all runs beside it.

    Unless nobody could see it: nobody waits for a page that is served to a log file.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    from cutaway.cli.output import Screen
    from cutaway.cli.studio import studio

    screen = Screen()
    screen.line()
    try:
        studio(run.parent, page=population_page(run))
    except ConfigurationError as error:
        screen.line(str(error))


def population_page(run: Path) -> str:
    """Return the address of the population of a run, below the studio's own."""
    from cutaway.studio.index.ids import id_of_run

    return f"runs/{id_of_run(str(run))}/population?{urlencode(_IN_SIGHT)}"
