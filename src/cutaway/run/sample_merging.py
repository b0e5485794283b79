"""Makes the files of one subset of an evaluation out of its parts: the table, large values, vectors, previews."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from cutaway.run.identity import Run
from cutaway.run.layout import PREVIEWS
from cutaway.run.sample_columns import COUNT, PREVIEW, SPACE, fitted_batch, is_large, unified_schema
from cutaway.run.whole_files import whole_file

__all__ = ["merge_subset", "preview_key"]

_ORDER = ("id", "hash", "index", "error", "metadata.", "ground_truth.", "prediction.", "loss", "metric.")
# Large values lie in batches of about this size: one is what reading a single value costs.
BLOB_BYTES = 4 << 20
PREVIEW_ROWS = 256


class _Sink(Protocol):
    """Takes the rows of one part after the other."""

    def write(self, rows: pa.Table) -> None:
        """Take the next rows."""

    def close(self) -> None:
        """Finish the file."""


def merge_subset(
    run: Run, folder: str, subset: str, *, length: int, schemas: Sequence[pa.Schema], tables: Iterable[pa.Table]
) -> dict[str, int]:
    """Write the files of a subset; each appears whole, the table last. Return the sums of what was counted."""
    counts: dict[str, int] = {}
    schema = unified_schema(schemas)
    names = sorted((name for name in schema.names if ":" not in name), key=_rank)
    here = run.path / folder
    with contextlib.ExitStack() as stack:
        sinks: list[_Sink] = []
        # Entered first, and so renamed last: where the table is, everything else of it is too.
        path = stack.enter_context(whole_file(here / f"{subset}.parquet"))
        plain = pa.schema([schema.field(name) for name in names])
        sinks.append(stack.enter_context(contextlib.closing(_ParquetTable(path, plain))))
        large = [schema.field(name) for name in names if is_large(schema.field(name))]
        if large:
            path = stack.enter_context(whole_file(here / f"{subset}.blobs.arrow"))
            sinks.append(stack.enter_context(contextlib.closing(_Batches(path, pa.schema(large)))))
        for field in schema:
            if field.name.startswith(SPACE):
                path = stack.enter_context(whole_file(here / f"{subset}.{field.name.removeprefix(SPACE)}.npy"))
                sinks.append(stack.enter_context(contextlib.closing(_Vectors(path, field, length))))
        if PREVIEW in schema.names:
            path = stack.enter_context(whole_file(run.path / preview_key(subset)))
            sinks.append(stack.enter_context(contextlib.closing(_Previews(path))))
        for table in tables:
            fitted = fitted_batch(table, schema)
            for sink in sinks:
                sink.write(fitted)
            for name in fitted.column_names:
                if name.startswith(COUNT):
                    key, values = name.removeprefix(COUNT), fitted.column(name).to_numpy()
                    counts[key] = counts.get(key, 0) + int(np.nansum(values))
    return counts


def preview_key(subset: str) -> str:
    """Return where the previews of a subset lie."""
    return f"{PREVIEWS}/{subset}.arrow"


def _rank(name: str) -> int:
    return next((i for i, start in enumerate(_ORDER) if name.startswith(start)), len(_ORDER))


class _ParquetTable:
    """`<subset>.parquet`; of large values it has the row in which they lie in the other file."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq  # it takes long to import, and readers of runs do without it

        self._large = {field.name for field in schema if is_large(field)}
        fields = [_reference(field) if field.name in self._large else field for field in schema]
        self._schema = pa.schema(fields)
        plain = [name for name in schema.names if name not in ("id", "hash", "index")]
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd", use_dictionary=plain)
        self._row = 0

    def write(self, rows: pa.Table) -> None:
        columns = [self._column(rows, name) for name in self._schema.names]
        self._writer.write_table(pa.table(columns, schema=self._schema))
        self._row += len(rows)

    def _column(self, rows: pa.Table, name: str) -> Any:
        column = rows.column(name)
        if name not in self._large:
            return column
        places = np.arange(self._row, self._row + len(rows))
        return pa.array(places, mask=column.is_null().to_numpy(zero_copy_only=False))

    def close(self) -> None:
        self._writer.close()


def _reference(field: pa.Field) -> pa.Field:
    metadata = {**(field.metadata or {}), b"values": str(field.type.value_type).encode(), b"in": b"blobs"}
    return pa.field(field.name, pa.int64(), metadata=metadata)


class _Batches:
    """`<subset>.blobs.arrow`: the columns of large values, one row a sample."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pa.ipc.new_file(str(path), schema)

    def write(self, rows: pa.Table) -> None:
        chosen = rows.select(self._schema.names).cast(self._schema).combine_chunks()
        size = max(int(BLOB_BYTES / max(chosen.nbytes / max(len(chosen), 1), 1)), 1)
        self._writer.write_table(chosen, max_chunksize=size)

    def close(self) -> None:
        self._writer.close()


class _Vectors:
    """`<subset>.<space>.npy`: one latent vector a row; rows of failed samples are NaN."""

    def __init__(self, path: Path, field: pa.Field, length: int) -> None:
        self._name = field.name
        self._size = field.type.list_size
        self._file = path.open("wb")
        header = {"descr": "<f4", "fortran_order": False, "shape": (length, self._size)}
        np.lib.format.write_array_header_1_0(self._file, header)

    def write(self, rows: pa.Table) -> None:
        column = rows.column(self._name).combine_chunks()
        vectors = np.full((len(rows), self._size), np.nan, "<f4")
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        vectors[valid] = column.drop_null().flatten().to_numpy(zero_copy_only=False).reshape(-1, self._size)
        self._file.write(vectors.tobytes())

    def close(self) -> None:
        self._file.close()


class _Previews:
    """`previews/<subset>.arrow`: one small PNG a sample."""

    def __init__(self, path: Path) -> None:
        self._schema = pa.schema([("id", pa.string()), ("png", pa.binary())])
        self._writer = pa.ipc.new_file(str(path), self._schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))

    def write(self, rows: pa.Table) -> None:
        # Small batches: one is what reading a single preview costs.
        table = pa.table([rows.column("id"), rows.column(PREVIEW)], schema=self._schema)
        self._writer.write_table(table, max_chunksize=PREVIEW_ROWS)

    def close(self) -> None:
        self._writer.close()
