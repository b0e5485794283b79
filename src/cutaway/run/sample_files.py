"""The evaluated samples of a run, `samples/<n>/<subset>.parquet`: which content they have. Writes nothing."""

from __future__ import annotations

from typing import NamedTuple

from cutaway.run.identity import Run
from cutaway.run.layout import SAMPLES

__all__ = ["SampleFile", "sample_files"]


class SampleFile(NamedTuple):
    """The samples of one subset in one evaluation: their ids, `<subset>/<id>`, by the hash of their content."""

    key: str
    evaluation: str
    subset: str
    ids: dict[str, str]


def sample_files(run: Run) -> list[SampleFile]:
    """Return the samples of every evaluation of a run, as far as their hashes were kept."""
    import pyarrow.parquet as pq  # most runs have no such files, and it takes long to import

    found = []
    for path in sorted((run.path / SAMPLES).glob("*/*.parquet")):
        # Analysis keeps its own files beside: `<subset>.map.<space>.parquet`.
        if "." not in path.stem and {"id", "hash"} <= set(pq.read_schema(path).names):
            table = pq.read_table(path, columns=["id", "hash"])
            ids = [_sample_id(one, path.stem) for one in table["id"].to_pylist()]
            by_hash = {key: one for key, one in zip(table["hash"].to_pylist(), ids, strict=True) if key is not None}
            key = path.relative_to(run.path).as_posix()
            found.append(SampleFile(key, path.parent.name, path.stem, by_hash))
    return found


def _sample_id(one: object, subset: str) -> str:
    text = str(one)
    return text if text.startswith(f"{subset}/") else f"{subset}/{text}"
