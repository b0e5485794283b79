"""Whether the queries of a trial look for what is new: as context managers over one trial or several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

__all__ = ["no_refresh", "refresh"]


class Refreshable(Protocol):
    """A trial, as far as these functions know it."""

    dynamic_refresh: bool


Trials = TypeVar("Trials", bound=Refreshable | Iterable[Refreshable])


@contextmanager
def no_refresh(trials: Trials) -> Iterator[Trials]:
    """Within this block the trials show what they know already, so that several queries speak of one moment.

    >>> with no_refresh(trial):                               # doctest: +SKIP
    ...     last = trial.steps()[-1]
    ...     names = trial.tensor_names(step=last)
    """
    with _set(trials, dynamic=False):
        yield trials


@contextmanager
def refresh(trials: Trials) -> Iterator[Trials]:
    """Within this block the trials look for what is new, also inside `no_refresh`."""
    with _set(trials, dynamic=True):
        yield trials


@contextmanager
def _set(trials: Refreshable | Iterable[Refreshable], *, dynamic: bool) -> Iterator[None]:
    listed = list(trials) if isinstance(trials, Iterable) else [trials]
    before = [trial.dynamic_refresh for trial in listed]
    for trial in listed:
        trial.dynamic_refresh = dynamic
    try:
        yield
    finally:
        # What was, not always True: blocks may be nested.
        for trial, was in zip(listed, before, strict=True):
            trial.dynamic_refresh = was
