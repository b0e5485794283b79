"""Studios in a thread of the tests, asked and shown: the ids of their runs, and the addresses of their pages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx

from cutaway.studio.guards.tokens import Gate
from cutaway.studio.serving.app import Guards
from cutaway.studio.serving.server import Served, serve_in_thread
from cutaway.studio.the_studio import Studio

__all__ = ["Shown", "showing"]

# So long a loaded machine may take for a first look; nobody waits for it on a quiet one.
PATIENCE = 60.0


class Shown:
    """A studio that is being served."""

    def __init__(self, served: Served, root_path: str = "") -> None:
        self.served = served
        self.root: Path = served.studio.root
        self.url = served.url + root_path

    def id_of(self, run: str) -> str:
        """The id of a run, waiting for the first look at it."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for row in self.served.studio.index.table().rows:
                if row.name == run:
                    return row.id
            time.sleep(0.01)
        raise AssertionError(f"there is no run {run!r} in {self.root}")

    def address(self, run: str = "", tab: str = "", **query: Any) -> str:
        """The address of a page: all runs, a run, or one of its tabs; `first` and `last` are from and to."""
        parts = [self.url, "runs", *([self.id_of(run)] if run else []), *([tab] if tab else [])]
        plain = {{"first": "from", "last": "to"}.get(name, name): value for name, value in query.items()}
        return "/".join(parts) + (f"?{urlencode(plain, doseq=True)}" if plain else "")

    def ask(self, path: str, **query: Any) -> Any:
        """What the API says: the data of an answer."""
        answer = httpx.get(f"{self.url}/api/{path}", params=query, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]


@contextmanager
def showing(root: Path, *, guards: Guards | None = None, gate: Gate | None = None, port: int = 0) -> Iterator[Shown]:
    """Serve a folder of runs while the block runs."""
    with serve_in_thread(Studio.open(root, gate=gate), guards=guards, port=port) as served:
        yield Shown(served, guards.root_path if guards else "")
