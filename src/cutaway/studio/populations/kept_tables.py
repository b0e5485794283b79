"""What was kept of analyses of an evaluation: read once, again when its file changes, left out where it is not ours.

A table counts where its key says that it was made from this evaluation and these subsets, and where it has the samples
that it must have. Everything else counts as not made, with a note.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cutaway.analysis.population.candidates import RANKED
from cutaway.analysis.population.kept_ranked import is_ranked
from cutaway.analysis.population.map import MAP, is_map, map_positions
from cutaway.analysis.samples import SAMPLE
from cutaway.run.analyses import AnalysisName, KeptTable, read_about, read_table

if TYPE_CHECKING:
    from cutaway.studio.populations.loaded import Loaded

__all__ = ["KeptTables"]

_PLACES = ("map", "tsne", "pca")
_RANKED = (*(name.replace(" ", "_") for name in RANKED), "insights")
_CLUSTERS, _CLUSTER_TYPES = "clusters", {"cluster": pa.int64(), "distance": pa.float32()}


class KeptTables:
    """The kept tables of one evaluation, by kind."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._scope = loaded.origin.scope
        self._tables: dict[str, tuple[object, KeptTable | None]] = {}
        self._reasons: dict[str, str] = {}

    @property
    def notes(self) -> list[str]:
        """What is there and does not count, and why."""
        return list(self._reasons.values())

    def stamp(self, kind: str) -> object:
        """Return what changes when the file of a kind does; None where there is none."""
        return _stamp(self._file(kind))

    def table(self, kind: str) -> KeptTable | None:
        """Return what was kept of a kind, where it is of this evaluation."""
        stamp = self.stamp(kind)
        if kind not in self._tables or self._tables[kind][0] != stamp:
            self._reasons.pop(kind, None)
            self._tables[kind] = stamp, None if stamp is None else self._read(kind)
        return self._tables[kind][1]

    def is_made(self, kind: str) -> bool:
        """Whether something of a kind was kept of this evaluation, by what its file says about itself."""
        stamp = self.stamp(kind)
        if stamp is not None and self._tables.get(kind, (None,))[0] == stamp:
            return self._tables[kind][1] is not None
        about = read_about(self._loaded.evaluation, self._name(kind))
        return about is not None and self._is_own(kind, about)

    def _name(self, kind: str) -> AnalysisName:
        return AnalysisName(self._scope, kind, self._loaded.space)

    def _is_own(self, kind: str, about: dict[str, Any]) -> bool:
        settings = about.get("settings")
        return isinstance(settings, dict) and about.get("key") == self._loaded.origin.key(kind, settings)

    def _file(self, kind: str) -> Path:
        return self._name(kind).file(self._loaded.evaluation, "parquet")

    def _read(self, kind: str) -> KeptTable | None:
        held = read_table(self._loaded.evaluation, self._name(kind))
        reason = "it cannot be read" if held is None else self._reason(kind, held)
        if reason:
            words = kind.replace("_", " ")
            self._reasons[kind] = f"What was kept of {words!r} is left out: {reason}. Make it again."
            return None
        return held

    def _reason(self, kind: str, held: KeptTable) -> str:
        """Return why a table does not count; empty where it does."""
        if not self._is_own(kind, held.about):
            return "it was made from another evaluation, or by another release"
        table = held.table
        if len(set(table.column_names)) < table.num_columns:
            return "it has a column twice"
        if kind == _CLUSTERS:
            return self._clusters_reason(table, held.about["settings"])
        return "" if self._is_of_these(kind, table) else "it is not about these samples"

    def _is_of_these(self, kind: str, table: pa.Table) -> bool:
        """Whether a table has the samples that one of its kind has; tables of something else have none to compare."""
        if kind in _PLACES:
            return is_map(table) and self._are_ids(table)
        if kind in _RANKED:
            return is_ranked(table, kind, self._loaded.ids, self._loaded.classes)
        return kind != "class_distances" or self._are_ids(table)

    def _clusters_reason(self, table: pa.Table, settings: dict[str, Any]) -> str:
        if any(name not in table.column_names or table[name].type != kind for name, kind in _CLUSTER_TYPES.items()):
            return "it does not have the columns of clusters"
        if not self._are_ids(table):
            return "it is not about these samples"
        there = self.table(MAP)
        if there is None or settings.get("map") != hashlib.sha256(map_positions(there.table).tobytes()).hexdigest():
            return "they are clusters of another map"
        return ""

    def _are_ids(self, table: pa.Table) -> bool:
        if SAMPLE not in table.column_names or table[SAMPLE].type != self._loaded.ids.type:
            return False
        return bool(table[SAMPLE].equals(pa.chunked_array([self._loaded.ids])))


def _stamp(path: Path) -> object:
    try:
        there = path.stat()
    except OSError:
        return None
    return there.st_mtime_ns, there.st_size, there.st_ino
