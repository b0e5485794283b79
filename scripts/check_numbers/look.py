"""One run as it is looked at: where its numbers stand, what is true of it, and where the comparison is written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from scripts.check_numbers.ledger import EXACT, Decimals, Figures, Ledger
from scripts.check_numbers.places import Studio
from scripts.check_numbers.session import Session, Trained

__all__ = ["Look"]


@dataclass(frozen=True)
class Look:
    """A run of a session, in the studio and in the commands; what is compared goes under its name into the ledger."""

    session: Session
    studio: Studio
    ledger: Ledger
    run: str

    @property
    def trained(self) -> Trained:
        """What the loop of its training wrote down by itself."""
        return self.session.trained[self.run]

    def ask(self, path: str = "", **query: Any) -> Any:
        """Return what a route of the run answers."""
        return self.studio.ask(self._route(path), **query)

    def ask_page(self, path: str, **query: Any) -> dict[str, Any]:
        """Return a page of rows of the run, with how many there are."""
        return self.studio.ask_page(self._route(path), **query)

    def columns(self, path: str, **query: Any) -> pa.Table:
        """Return columns of the run."""
        return self.studio.columns(self._route(path), **query)

    def show(self, tab: str, ready: str, /, **query: Any) -> Any:
        """Open a tab of the run, wait for what says that it is there, and return the page; no tab is that of curves."""
        return self.studio.show(self._route(tab), ready, **query)

    def json(self, *words: str) -> Any:
        """Return what a command says as JSON."""
        return self.session.commands.json(*words)

    def lines(self, *words: str) -> list[str]:
        """Return the lines that a command prints."""
        return self.session.commands.text(*words).splitlines()

    def number(
        self, what: str, where: str, shown: str | float | None, true: float | None, rounding: Figures | Decimals = EXACT
    ) -> None:
        """Compare a number."""
        self.ledger.number(f"{self.run}: {what}", where, shown, true, rounding)

    def series(
        self,
        what: str,
        where: str,
        shown: Sequence[float | str | None],
        true: Sequence[float],
        rounding: Figures | Decimals = EXACT,
    ) -> None:
        """Compare a series of numbers."""
        self.ledger.series(f"{self.run}: {what}", where, shown, true, rounding)

    def text(self, what: str, where: str, shown: str | None, true: str) -> None:
        """Compare a word."""
        self.ledger.text(f"{self.run}: {what}", where, shown, true)

    def says(self, what: str, where: str, text: str | None, *parts: str) -> None:
        """Compare the figures of a sentence."""
        self.ledger.says(f"{self.run}: {what}", where, text, *parts)

    def _route(self, path: str) -> str:
        return "/".join(["runs", self.studio.id_of(self.run), *([path] if path else [])])
