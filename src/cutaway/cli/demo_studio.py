"""How the demo ends: what to look at in the studio, and the studio itself where somebody sits at a terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from cutaway.cli.grid import Cell
from cutaway.cli.opening import shown_path
from cutaway.cli.output import Screen
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from cutaway.cli.run_facts import Facts

__all__ = ["end_with_the_studio"]


def end_with_the_studio(folder: Path, report: Facts) -> None:
    """Say what the page shows of the demo's runs, and open it unless nobody could see it."""
    screen = Screen()
    screen.line()
    screen.line(Text("In the studio, the page over all of this", style="bold"))
    # With the terminal's own words: nobody would wait for a page that is served to a log file.
    shown = sys.stdin.isatty() and sys.stderr.isatty()
    pairs: list[tuple[Cell, Cell]] = [
        *([] if shown else [("open it", Text(f"cutaway studio {shown_path(folder)}", style="bold"))]),
        *_what_to_look_at(report),
    ]
    screen.pairs(pairs, indent=2)
    if shown:
        _open(folder, screen)


def _what_to_look_at(report: Facts) -> list[tuple[Cell, Cell]]:
    sick, telling = report["sick"], report["sick"]["health"]["telling"]
    caught = f"{telling[0]['code']} with its evidence, and from there" if telling else "what rules said, and"
    return [
        (report["run"], "Curves: loss and accuracy; Tensors: every layer as a stripe, calm throughout"),
        (Path(sick["path"]).name, "Tensors: the stripes of conv2, which stand still from the first step on"),
        ("", f"Findings: {caught} the samples of those steps"),
        ("", "choose both runs in the table and compare them"),
    ]


def _open(folder: Path, screen: Screen) -> None:
    from cutaway.cli.studio import studio

    screen.line()
    try:
        studio(folder)
    except ConfigurationError as error:
        screen.line(str(error))
