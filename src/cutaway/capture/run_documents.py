"""The documents of a run that a hook keeps: its configuration, its collections, which corrections it has read.

The chief alone writes them. A storage that fails stops the capture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cutaway.capture.given import plain
from cutaway.run.identity import Run
from cutaway.run.layout import COLLECTIONS_FILE
from cutaway.run.overlay_use import record_overlay
from cutaway.tensors.collections import Collections

__all__ = ["RunDocuments"]


class RunDocuments:
    """What is found again beside the tables of a run."""

    def __init__(
        self,
        run: Run | None,
        collections: Collections,
        included: tuple[str, ...],
        config: dict[str, Any],
        stop: Callable[[str], None],
    ) -> None:
        self.config = config
        self._run = run
        self._collections = collections
        self._included = included
        self._stop = stop
        self._written: dict[str, Any] = {}

    def update_config(self, config: Mapping[str, Any]) -> None:
        """Add to the configuration, and write it."""
        self.config.update(plain(dict(config)))
        self.write_config()

    def write(self) -> None:
        """Write all of them."""
        self.write_collections()
        self.write_config()
        self._write(record_overlay)

    def write_collections(self) -> None:
        """Write what the collections hold."""
        included = {"included": list(self._included), "collections": self._collections.to_dict()}
        self._write(lambda run: run.write_document(COLLECTIONS_FILE, included))

    def write_config(self) -> None:
        """Write the configuration, where it has changed."""
        if self.config != self._written:
            self._write(self._replace_config)

    def _replace_config(self, run: Run) -> None:
        run.write_config(self.config)
        self._written = dict(self.config)

    def _write(self, write: Callable[[Run], object]) -> None:
        if self._run is not None:
            try:
                write(self._run)
            except OSError as error:
                self._stop(str(error))
