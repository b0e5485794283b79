"""The documents of a run that a hook keeps: its configuration, its collections, which corrections it has read.

The chief alone writes them; what another worker alone knows of collections lies beside its. A storage that fails stops
the capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cutaway.capture.adapter import Worker
from cutaway.capture.given import plain
from cutaway.run.identity import Run
from cutaway.run.layout import COLLECTIONS_FILE, MODEL_ORDER_FILE, TRACE
from cutaway.run.overlay_use import record_overlay
from cutaway.tensors.collections import Collections

__all__ = ["RunDocuments"]


class RunDocuments:
    """What is found again beside the tables of a run."""

    def __init__(
        self,
        run: Run | None,
        worker: Worker,
        collections: Collections,
        *,
        included: tuple[str, ...],
        config: dict[str, Any],
        stop: Callable[[str], None],
    ) -> None:
        self.config = config
        self._run = run
        self._worker = worker
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
        if self._is_chief:
            self._write(record_overlay)

    def write_collections(self) -> None:
        """Write what the collections hold."""
        if self._is_chief:
            self._write_collections(COLLECTIONS_FILE)

    def add_members(self, names: Iterable[str], tensors: Iterable[str]) -> None:
        """Add tensors to collections, and write at once what is new: whoever reads a tensor finds where it belongs."""
        members = set(tensors)
        grown = [one for one in map(self._collections.get, names) if not members <= one.tensor_names]
        for collection in grown:
            collection.tensor_names |= members
        if grown:
            own = f"{TRACE}/collections-{self._worker.name}.json"
            self._write_collections(COLLECTIONS_FILE if self._is_chief else own)

    def _write_collections(self, key: str) -> None:
        content = {"included": list(self._included), "collections": self._collections.to_dict()}
        self._write(lambda run: run.write_document(key, content))

    def write_model_order(self, layers: Mapping[str, str]) -> None:
        """Write in which order a forward calls the layers of the model, and the type of each."""
        if self._is_chief:
            content = {"forward": list(layers), "types": dict(layers)}
            self._write(lambda run: run.write_document(MODEL_ORDER_FILE, content))

    def write_config(self) -> None:
        """Write the configuration, where it has changed."""
        if self._is_chief and self.config != self._written:
            self._write(self._replace_config)

    @property
    def _is_chief(self) -> bool:
        return self._worker.rank == 0

    def _replace_config(self, run: Run) -> None:
        run.write_config(self.config)
        self._written = dict(self.config)

    def _write(self, write: Callable[[Run], object]) -> None:
        if self._run is not None:
            try:
                write(self._run)
            except OSError as error:
                self._stop(str(error))
