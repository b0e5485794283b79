"""Runs somebody's training command with an overlay, and finds the runs that it made. Judges nothing."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from cutaway.errors import ConfigurationError
from cutaway.run import Run, list_runs, runs_folder
from cutaway.run.overlays import OVERLAY_VARIABLE

__all__ = ["SEED_VARIABLE", "Training", "split_command", "train"]

SEED_VARIABLE = "CUTAWAY_SEED"
LAST_LINES = 20
END_SECONDS = 5.0


@dataclass(frozen=True)
class Training:
    """What became of a command: its exit code, its last lines, and the runs that it made, the newest first."""

    code: int
    tail: tuple[str, ...]
    runs: tuple[Run, ...]


def split_command(command: str) -> list[str]:
    """Return the words of a command as a shell would split them; no shell ever sees it.

    >>> split_command("python train.py --name 'a b'")
    ['python', 'train.py', '--name', 'a b']
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigurationError(f"The command {command!r} cannot be read: {error}.") from error
    if not words:
        raise ConfigurationError("The command that retrains is empty.")
    return words


def train(
    words: list[str],
    *,
    overlay: Path | None,
    beside: Path,
    seed: int | None = None,
    listen: Callable[[str], None] = lambda _: None,
) -> Training:
    """Run a command here, with `overlay` in its environment or with none; `listen` is given each line that it prints.

    Runs that it makes are looked for where new runs go, in the folder `beside` and in the current one.
    """
    environment = {name: value for name, value in os.environ.items() if name != OVERLAY_VARIABLE}
    if overlay is not None:
        environment[OVERLAY_VARIABLE] = str(overlay.absolute())
    if seed is not None:
        environment[SEED_VARIABLE] = str(seed)
    folders = _folders(beside)
    before = {run.id for run in _runs(folders)}
    tail: deque[str] = deque(maxlen=LAST_LINES)
    try:
        process = subprocess.Popen(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except OSError as error:
        raise ConfigurationError(f"Cannot run {words[0]!r}: {error.strerror or error}.") from error
    with process:
        try:
            for line in process.stdout or ():
                tail.append(line.rstrip("\n"))
                listen(line.rstrip("\n"))
        except BaseException:
            # An interrupt reaches the training too; one that does not heed it must not go on unseen.
            _end(process)
            raise
    made = [run for run in _runs(folders) if run.id not in before]
    return Training(process.returncode, tuple(tail), tuple(made))


def _end(process: subprocess.Popen[str]) -> None:
    for ask in (process.terminate, process.kill):
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            ask()
        else:
            return


def _folders(beside: Path) -> list[Path]:
    """Return where a training may put its run: where runs go by default, beside the old one, and here."""
    return list(dict.fromkeys(path.resolve() for path in (runs_folder(), beside, Path.cwd())))


def _runs(folders: Iterable[Path]) -> list[Run]:
    found = {run.id: run for folder in folders if folder.is_dir() for run in list_runs(folder)}
    return sorted(found.values(), key=lambda run: str(run.identity.get("created", "")), reverse=True)
