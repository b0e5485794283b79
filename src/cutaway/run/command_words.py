"""How a command names a run: what is copied can be run as it is, from where the page or the command was started."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from cutaway.run.evaluations import Evaluation, evaluations

__all__ = ["command_path", "evaluation_words", "run_word", "shell_word"]


def run_word(path: Path, *, relative: bool = False) -> str:
    """Return a run's folder as a word of a command, quoted where a shell would take it apart; see `command_path`."""
    return shell_word(command_path(path, relative=relative))


def evaluation_words(evaluation: Evaluation, *, relative: bool = False) -> str:
    """Return how a command that reads an evaluation names it: by its run, and by its number unless that is the last."""
    word = run_word(evaluation.run.path, relative=relative)
    last = next((one.number for one in reversed(evaluations(evaluation.run)) if one.finished), None)
    return word if evaluation.number == last else f"{word} --evaluation {evaluation.number}"


def command_path(path: Path, *, relative: bool = False) -> str:
    """Return a run's folder as short as the current folder, or the user's home, allows; not quoted.

    A `relative` one never tells where the current folder is: of a run that has no folder in common with it, nor with
    the home, it is only the name.

    >>> command_path(Path.cwd() / "runs" / "my run"), command_path(Path.cwd() / "-x"), command_path(Path("/srv/x"))
    ('runs/my run', './-x', '/srv/x')
    """
    place = path.absolute()
    inside, home = os.path.relpath(place), Path.home()
    apart = os.path.commonpath([place, Path.cwd()]) == place.anchor
    if inside.startswith("..") and (apart or not relative):
        if place.is_relative_to(home):
            return f"~/{place.relative_to(home)}"
        if not relative:
            return str(place)
        inside = place.name
    # What begins with a dash would be taken for an option.
    return f"./{inside}" if inside.startswith("-") else inside


def shell_word(text: str) -> str:
    """Quote a word where a shell would take it apart; the `~/` of a home is only understood without quotes.

    >>> shell_word("~/my runs/a"), shell_word("runs/a")
    ("~/'my runs/a'", 'runs/a')
    """
    home = "~/" if text.startswith("~/") else ""
    return home + shlex.quote(text.removeprefix(home))
