"""One run as it is looked at: where its numbers stand, what is true of it, and where the comparison is written down."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from scripts.check_numbers.ledger import Ledger
from scripts.check_numbers.places import Studio
from scripts.check_numbers.session import Session, Trained

__all__ = ["Look"]


class Look(Ledger):
    """A run of a session, in the studio and in the commands; what is compared goes under its name into the ledger."""

    def __init__(self, session: Session, studio: Studio, ledger: Ledger, run: str) -> None:
        super().__init__(ledger.tampered, ledger.entries, f"{run}: ")
        self.session, self.studio, self.run = session, studio, run

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

    def _route(self, path: str) -> str:
        return "/".join(["runs", self.studio.id_of(self.run), *([path] if path else [])])
