"""What analysis keeps beside the samples of an evaluation: tables, arrays, and latent spaces of further layers.

Knows names and formats; computes nothing. Everything here can be made again from the evaluation, so a file that cannot
be read counts as one that is not there.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array
from cutaway.run.evaluations import Evaluation, space_file_name
from cutaway.run.tables import UNREADABLE_TABLE
from cutaway.run.whole_files import sweep_dead, whole_file

__all__ = [
    "JOINT",
    "AnalysisName",
    "KeptTable",
    "is_analysed",
    "read_about",
    "read_arrays",
    "read_table",
    "scope_of",
    "write_arrays",
    "write_table",
]

# What is made of all subsets of an evaluation together.
JOINT = "joint"
_ABOUT = b"cutaway"
# Also what arrays can raise that are made to harm.
_UNREADABLE = (*UNREADABLE_TABLE, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class AnalysisName:
    """What an analysis is of: `scope` is a subset, several joined by `+`, or `joint`; `kind` a word such as `map`.

    `space` is the latent space that it is made in, empty for what is made in none.
    """

    scope: str
    kind: str
    space: str = ""

    def file(self, evaluation: Evaluation, ending: str) -> Path:
        """Return where it lies."""
        space = f".{space_file_name(self.space)}" if self.space else ""
        return evaluation.path / f"{self.scope}.{self.kind}{space}.{ending}"


@dataclass(frozen=True)
class KeptTable:
    """A table and what it was made from: `about` has the key, the settings and the notes."""

    table: pa.Table
    about: dict[str, Any]


def scope_of(evaluation: Evaluation, subsets: Sequence[str]) -> str:
    """Return the word for some subsets of an evaluation."""
    if len(subsets) == 1:
        return subsets[0]
    return JOINT if set(subsets) == set(evaluation.subsets) else "+".join(subsets)


def write_table(evaluation: Evaluation, name: AnalysisName, table: pa.Table, about: Mapping[str, Any]) -> Path:
    """Write a table whole, with what it was made from in its schema."""
    import pyarrow.parquet as pq

    path = name.file(evaluation, "parquet")
    described = table.replace_schema_metadata({_ABOUT: json.dumps(dict(about), default=str)})
    sweep_dead(evaluation.path)
    with whole_file(path) as beside:
        pq.write_table(described, beside, compression="zstd", write_page_checksum=True)
    return path


def read_table(evaluation: Evaluation, name: AnalysisName, key: str | None = None) -> KeptTable | None:
    """Return a table that was kept; None where there is none, or it was made from something else than `key` says."""
    import pyarrow.parquet as pq

    path = name.file(evaluation, "parquet")
    try:
        if _about_of_metadata(pq.read_schema(path).metadata).get("key") != key and key is not None:
            return None
        table = pq.read_table(path, page_checksum_verification=True)
    except _UNREADABLE:
        return None
    return KeptTable(table.replace_schema_metadata(None), _about_of_metadata(table.schema.metadata))


def read_about(evaluation: Evaluation, name: AnalysisName) -> dict[str, Any] | None:
    """Return what a table that was kept was made from, without reading it; None where there is none."""
    import pyarrow.parquet as pq

    try:
        return _about_of_metadata(pq.read_schema(name.file(evaluation, "parquet")).metadata)
    except _UNREADABLE:
        return None


def is_analysed(evaluation: Evaluation, kind: str) -> bool:
    """Whether an analysis of all samples of an evaluation was kept, in whatever space; no file is read."""
    subsets = list(evaluation.source.subsets)
    scopes = (JOINT, *(subsets if len(subsets) == 1 else ()))
    return any(path.name.split(f".{kind}.")[0] in scopes for path in evaluation.path.glob(f"*.{kind}.*.parquet"))


def write_arrays(
    evaluation: Evaluation, name: AnalysisName, arrays: Mapping[str, Array], about: Mapping[str, Any]
) -> Path:
    """Write arrays whole into one `.npz`, with what they were made from."""
    path = name.file(evaluation, "npz")
    told = np.frombuffer(json.dumps(dict(about), default=str).encode(), np.uint8)
    sweep_dead(evaluation.path)
    with whole_file(path) as beside, beside.open("wb") as file:
        np.savez(
            file, allow_pickle=False, **{"about": told, **{f"array.{one}": values for one, values in arrays.items()}}
        )
    return path


def read_arrays(evaluation: Evaluation, name: AnalysisName, key: str) -> tuple[dict[str, Array], dict[str, Any]] | None:
    """Return arrays that were kept and what they were made from; None where there are none of this key."""
    path = name.file(evaluation, "npz")
    try:
        # numpy leaves a file open that it cannot read, unless it is somebody else's.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            if _is_packed(held.zip):
                return None
            about = json.loads(_array(held["about"]).tobytes())
            if not isinstance(about, dict) or about.get("key") != key:
                return None
            return {one.removeprefix("array."): _array(held[one]) for one in held.files if one != "about"}, about
    except _UNREADABLE:
        return None


def _is_packed(archive: zipfile.ZipFile | None) -> bool:
    """Whether arrays are packed, which ours never are: a small file would unfold to any size."""
    return archive is None or any(one.compress_type != zipfile.ZIP_STORED for one in archive.infolist())


def _array(member: Any) -> Array:
    """Return a member of an archive that is an array; numpy hands out others as bytes."""
    if not isinstance(member, np.ndarray):
        raise ValueError(f"a member is {type(member).__name__}, not an array")  # noqa: TRY004 - a damaged file, not a caller
    return member


def _about_of_metadata(metadata: Mapping[bytes, bytes] | None) -> dict[str, Any]:
    told = json.loads((metadata or {}).get(_ABOUT, b"{}"))
    return told if isinstance(told, dict) else {}
