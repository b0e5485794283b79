"""Writes the samples of one evaluation: in parts while it goes on, which a kill leaves whole, and merged at its end.

A part is `samples/<n>/parts/<subset>-<start>-<stop>.arrow`: rows without a gap, with all that belongs to them. Merging
reads one part at a time, so that it needs no more memory for a million samples than for a thousand.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from cutaway.errors import ConfigurationError, RunDamaged
from cutaway.run.identity import Run
from cutaway.run.layout import evaluation_key
from cutaway.run.sample_columns import fitted_batch, unified_schema
from cutaway.run.sample_merging import merge_subset
from cutaway.run.whole_files import sweep

__all__ = ["SampleWriter"]

# A part is closed after so many rows or bytes, or so long: what a kill can cost at most.
PART_ROWS = 8192
PART_BYTES = 16 << 20
PART_SECONDS = 10.0

_PART = re.compile(r"(?P<subset>[a-z]+)-(?P<start>\d+)-(?P<stop>\d+)\.arrow")


class WrittenPart(NamedTuple):
    """One part on disk."""

    path: Path
    start: int
    stop: int


class SampleWriter:
    """The one writer of `samples/<number>/`; it takes the rows of each subset in their order, without a gap."""

    def __init__(self, run: Run, number: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._folder = evaluation_key(number)
        self._clock = clock
        self._batches: list[pa.RecordBatch] = []
        self._subset = ""
        self._start = 0
        self._rows = 0
        self._bytes = 0
        self._since = clock()
        sweep(run.path / self._folder / "parts")

    def rows_done(self, subset: str) -> int:
        """Return how many rows of a subset, from its first, lie in whole parts."""
        parts = self._parts(subset)
        return parts[-1].stop if parts else 0

    def parts(self, subset: str) -> Iterator[pa.Table]:
        """Yield what was written of a subset, part by part."""
        for part in self._parts(subset):
            yield _read_part(part)

    def append(self, subset: str, start: int, rows: pa.RecordBatch) -> None:
        """Take the rows from `start`, which must follow on the last; they are on disk when their part is closed."""
        if self._batches and subset != self._subset:
            self.flush()
        if not self._batches:
            self._subset, self._start, self._since = subset, start, self._clock()
        if start != self._start + self._rows:
            message = f"Rows must come without a gap, but got {start} behind {self._start + self._rows} of {subset}."
            raise ConfigurationError(message)
        self._batches.append(rows)
        self._rows += len(rows)
        self._bytes += rows.nbytes
        late = self._clock() - self._since >= PART_SECONDS
        if self._rows >= PART_ROWS or self._bytes >= PART_BYTES or late:
            self.flush()

    def flush(self) -> None:
        """Close the open part."""
        if not self._batches:
            return
        batches, self._batches = self._batches, []
        tables = [pa.Table.from_batches([batch]) for batch in batches]
        whole = _concatenated(tables)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, whole.schema) as writer:
            writer.write_table(whole)
        key = f"{self._folder}/parts/{self._subset}-{self._start:012d}-{self._start + self._rows:012d}.arrow"
        self._run.storage.replace(key, sink.getvalue())
        self._rows = self._bytes = 0

    def merge(self, lengths: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """Make the files of each subset out of its parts, and return what was counted in each.

        Raises `RunDamaged` where rows are missing.
        """
        counts: dict[str, dict[str, int]] = {}
        self.flush()
        sweep(self._run.path / self._folder)
        for subset, length in lengths.items():
            parts = self._parts(subset)
            have = parts[-1].stop if parts else 0
            if have != length:
                raise RunDamaged(f"{self._folder}/parts", 0, f"it has {have} of the {length} samples of {subset}")
            if length:
                schemas, tables = [_schema(part) for part in parts], (_read_part(part) for part in parts)
                counts[subset] = merge_subset(
                    self._run, self._folder, subset, length=length, schemas=schemas, tables=tables
                )
        return counts

    def remove_parts(self) -> None:
        """Remove the parts once everything is merged."""
        with contextlib.suppress(FileNotFoundError):
            self._run.storage.remove(f"{self._folder}/parts")

    def _parts(self, subset: str) -> list[WrittenPart]:
        """Return the parts from the first row on without a gap."""
        found = []
        for name in self._run.storage.list(f"{self._folder}/parts"):
            match = _PART.fullmatch(name)
            if match is not None and match["subset"] == subset:
                path = self._run.path / self._folder / "parts" / name
                found.append(WrittenPart(path, int(match["start"]), int(match["stop"])))
        whole: list[WrittenPart] = []
        for part in sorted(found, key=lambda part: part.start):
            if part.start != (whole[-1].stop if whole else 0):
                break
            whole.append(part)
        return whole


def _concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    schema = unified_schema([table.schema for table in tables])
    return pa.concat_tables([fitted_batch(table, schema) for table in tables]).combine_chunks()


def _schema(part: WrittenPart) -> pa.Schema:
    with pa.OSFile(str(part.path)) as source:
        return pa.ipc.open_file(source).schema


def _read_part(part: WrittenPart) -> pa.Table:
    # Read, not mapped: a map would count as this process's memory for as long as anything points into it.
    with pa.OSFile(str(part.path)) as source:
        return pa.ipc.open_file(source).read_all()
