"""Shows a stream of `Progress`: a bar in a terminal, a line every ten seconds elsewhere. Always to stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cutaway.cli.output import Screen
from cutaway.cli.words import age
from cutaway.wording import counted

if TYPE_CHECKING:
    from cutaway.evaluation import Progress

__all__ = ["progress_line", "shown_progress"]

LINE_SECONDS = 10.0


@contextmanager
def shown_progress(label: str, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[Progress], None]]:
    """Give a listener that shows what it hears."""
    screen = Screen(stderr=True)
    if not screen.is_terminal:
        yield _lines(screen, label, clock)
        return
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[words]}"),
    )
    with Bar(*columns, console=screen.console, transient=True, expand=True, redirect_stdout=False) as bar:
        say = _say_once(screen)
        task = bar.add_task(label, total=None, words="")

        def show(progress: Progress) -> None:
            say(progress)
            described = _label_with_stage(label, progress)
            bar.update(
                task,
                description=described,
                completed=progress.done,
                total=progress.total,
                words=_progress_words(progress),
            )

        yield show


def progress_line(label: str, progress: Progress) -> str:
    """Return how far it is as one line of a log.

    >>> from cutaway.evaluation import Progress
    >>> progress_line("evaluate", Progress(500, 2000, seconds=10.0, fresh=500))
    'evaluate: 25 %, 500 of 2,000 samples, 50/s, 30 s left'
    """
    percent = 100 * progress.done // max(progress.total, 1)
    return f"{_label_with_stage(label, progress)}: {percent} %, {_progress_words(progress)}"


def _label_with_stage(label: str, progress: Progress) -> str:
    return f"{label}, {progress.stage}" if progress.stage else label


def _progress_words(progress: Progress) -> str:
    words = [f"{progress.done:,} of {counted(progress.total, progress.unit.removesuffix('s'))}"]
    if progress.rate is not None:
        words.append(f"{progress.rate:,.0f}/s" if progress.rate >= 10 else f"{progress.rate:.1f}/s")
    if progress.eta is not None and progress.done < progress.total:
        words.append(f"{age(progress.eta)} left")
    if progress.failed:
        words.append(f"{progress.failed:,} failed")
    return ", ".join(words)


def _lines(screen: Screen, label: str, clock: Callable[[], float]) -> Callable[[Progress], None]:
    said = [clock()]
    say = _say_once(screen)

    def show(progress: Progress) -> None:
        say(progress)
        if clock() - said[0] >= LINE_SECONDS:
            said[0] = clock()
            screen.line(progress_line(label, progress))

    return show


def _say_once(screen: Screen) -> Callable[[Progress], None]:
    """Return what prints the words of a stream, the first time that it has some."""
    told: set[str] = set()

    def say(progress: Progress) -> None:
        if progress.what and progress.what not in told:
            told.add(progress.what)
            screen.line(progress.what)

    return say
