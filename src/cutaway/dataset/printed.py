"""What somebody's code prints while we call it: kept up to a limit and counted beyond it, never in the way of results.

Only `sys.stdout` is taken; what goes to `sys.stderr`, or past Python to the terminal, stays where it is.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["PRINTED_LIMIT", "Printed", "captured_prints"]

PRINTED_LIMIT = 64 * 1024


class Printed(io.TextIOBase):
    """The first 64 kB of what was printed; `dropped` is how many characters came after them. Safe for threads."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[str] = []
        self._kept = 0
        self._lock = threading.Lock()
        self.dropped = 0

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """What was kept, followed by a line that says how much more there was."""
        with self._lock:
            kept, dropped = "".join(self._parts), self.dropped
        return f"{kept}\n... and {dropped:,} more characters.\n" if dropped else kept

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """What code asks a stream for before it decides which characters to use."""
        return "utf-8"

    def writable(self) -> bool:
        """Whether it can be written to: always."""
        return True

    def write(self, text: str, /) -> int:
        """Keep what still fits, count the rest."""
        with self._lock:
            room = PRINTED_LIMIT - self._kept
            fits = text[:room] if room > 0 else ""
            if fits:
                self._parts.append(fits)
                self._kept += len(fits)
            self.dropped += len(text) - len(fits)
        return len(text)


class _Redirections:
    """Who captures at the moment, innermost last; captures may end in another order than they began."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[Printed] = []
        self._outside: TextIO | None = None

    def begin(self, printed: Printed) -> None:
        with self._lock:
            if not self._open:
                self._outside = sys.stdout
            self._open.append(printed)
            sys.stdout = printed

    def end(self, printed: Printed) -> None:
        with self._lock:
            self._open.remove(printed)
            sys.stdout = self._open[-1] if self._open else self._outside
            if not self._open:
                self._outside = None


_redirections = _Redirections()


@contextmanager
def captured_prints() -> Iterator[Printed]:
    """Keep what is printed inside the block, by any thread, instead of showing it.

    >>> with captured_prints() as printed:
    ...     print("loading")
    >>> printed.text
    'loading\\n'
    """
    printed = Printed()
    _redirections.begin(printed)
    try:
        yield printed
    finally:
        _redirections.end(printed)
