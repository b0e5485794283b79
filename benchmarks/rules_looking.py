"""All rules over a finished run, through the code of `cutaway watch RUN`: seconds altogether, and of each rule."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutaway.rules.making import rule_recipes
from cutaway.rules.rule import Rule
from cutaway.rules.watcher import Watcher
from cutaway.run.catalog import find_run
from cutaway.trial import Trial

__all__ = ["Looked", "linked", "look", "time_command"]


@dataclass(frozen=True)
class Looked:
    """Seconds of opening and of everything, each rule as it stands at the end with its seconds, and what was found."""

    opening: float
    seconds: float
    rules: list[dict[str, Any]]
    found: list[tuple[str, int]]


def look(folder: Path) -> Looked:
    """Open a run, let every rule look at all of it, and record what they find."""
    begin = time.perf_counter()
    run = find_run(str(folder))
    trial = Trial(run)
    rules = [recipe.make(trial) for recipe in rule_recipes()]
    opened = time.perf_counter()
    spent = {id(rule): _timed(rule) for rule in rules}
    with Watcher(trial, rules) as watcher:
        looks = list(watcher.looks(follow=False))
    end = time.perf_counter()
    standing = [{**one.to_dict(), "seconds": sum(spent[id(one.rule)])} for one in looks[-1].watched]
    found = [(finding.code, int(finding.where.get("step", -1))) for finding in run.findings()]
    return Looked(opened - begin, end - begin, standing, found)


def time_command(folder: Path) -> float:
    """Seconds of the command itself, from its start to its end."""
    command = [sys.executable, "-m", "cutaway", "watch", str(folder), "--json", "--fail-on", "never"]
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


@contextmanager
def linked(folder: Path, copy: Path) -> Iterator[Path]:
    """A copy of a run that shares its files: rules add files of their own, and the next look must not find them."""
    shutil.copytree(folder, copy, copy_function=os.link)
    try:
        yield copy
    finally:
        shutil.rmtree(copy)


def _timed(rule: Rule) -> list[float]:
    """Make a rule note how long each look takes."""
    seconds: list[float] = []
    plain: Callable[..., Any] = rule.look

    def noted(*arguments: Any) -> Any:
        begin = time.perf_counter()
        try:
            return plain(*arguments)
        finally:
            seconds.append(time.perf_counter() - begin)

    rule.look = noted  # type: ignore[method-assign, assignment]
    return seconds
