"""The evaluations of a run, `samples/<n>/`: what each was made from, and what it has. Writes only `source.json`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, Float32Array, Int64Array
from cutaway.errors import EvaluationError, RunDamaged, did_you_mean
from cutaway.run.catalog import list_runs
from cutaway.run.identity import Run
from cutaway.run.layout import PARTS, SAMPLES, SOURCE_FILE, SPACES_FILE, evaluation_key
from cutaway.run.leases import Lease, next_lease
from cutaway.run.sample_columns import shape_of
from cutaway.run.sources import Source, read_source

__all__ = [
    "LATENT",
    "Evaluation",
    "Failure",
    "added_spaces",
    "claim_evaluations",
    "evaluations",
    "find_unfinished",
    "new_evaluation",
    "space_file_name",
    "spaces_document",
    "write_source",
]

# The space of the model's own latent layer; those of users have their names.
LATENT = "latent"


class Failure(NamedTuple):
    """A sample that could not be evaluated whole, and why."""

    id: str
    error: str


@dataclass(frozen=True)
class Evaluation:
    """One evaluation of a run, for reading: a table of each subset, latent vectors, and what made them."""

    run: Run
    number: int

    def __repr__(self) -> str:
        return f"Evaluation({str(self.path)!r})"

    @property
    def path(self) -> Path:
        """The folder that it lies in."""
        return self.run.path / evaluation_key(self.number)

    @property
    def source(self) -> Source:
        """What made it: the binding, the model, how they were wired, the options, counts and times."""
        with contextlib.suppress(RunDamaged):
            return read_source(self.run.document(evaluation_key(self.number, SOURCE_FILE)) or {})
        return Source()

    @property
    def finished(self) -> bool:
        """Whether every sample is there."""
        return self.source.finished

    @property
    def kept_model(self) -> Path | None:
        """Where the copy of its model lies that was kept beside the samples; None where none was."""
        kept = self.source.model.kept
        return self.path / Path(kept).name if kept else None

    @property
    def subsets(self) -> list[str]:
        """The subsets that it has, in the data set's order."""
        there = {path.stem for path in self.path.glob("*.parquet") if "." not in path.stem}
        return [name for name in self.source.subsets if name in there]

    @property
    def spaces(self) -> list[str]:
        """The latent spaces that it has: `latent`, from the model, those of users, and those of layers added later."""
        added = (name for name, about in added_spaces(self).items() if about.get("finished"))
        return list(dict.fromkeys([*self.source.spaces, *added]))

    def table(self, subset: str, columns: list[str] | None = None) -> pa.Table:
        """Return the samples of a subset, one row each; values over 4 kB are fetched with `values`."""
        import pyarrow.parquet as pq  # it takes long to import

        with self._readable(path := self._file(subset, "parquet")):
            return pq.read_table(path, columns=columns)

    def count(self, subset: str) -> int:
        """Return how many samples the table of a subset has, without reading it."""
        import pyarrow.parquet as pq

        with self._readable(path := self._file(subset, "parquet")):
            return int(pq.read_metadata(path).num_rows)

    def column_names(self, subset: str) -> list[str]:
        """Return the names of the columns of a subset's table, without reading it."""
        return [str(name) for name in self.schema(subset).names]

    def schema(self, subset: str) -> pa.Schema:
        """Return the names and types of the columns of a subset's table, without reading it."""
        import pyarrow.parquet as pq

        with self._readable(path := self._file(subset, "parquet")):
            return pq.read_schema(path)

    def ids(self, subset: str) -> list[Any]:
        """Return the ids of the samples of a subset, in the order of its rows."""
        return list(self.table(subset, ["id"])["id"].to_pylist())

    def in_blobs(self, subset: str, column: str) -> bool:
        """Whether the values of a column are so large that they lie in a file of their own; `values` fetches them."""
        import pyarrow.parquet as pq

        field = pq.read_schema(self._file(subset, "parquet")).field(column)
        return bool((field.metadata or {}).get(b"in") == b"blobs")

    def pieces(self, subset: str, beginnings: tuple[str, ...]) -> Iterator[pa.Table]:
        """Yield the columns whose names begin so, a few thousand rows at a time, so that no whole table is held."""
        import pyarrow.parquet as pq

        path = self._file(subset, "parquet")
        with self._readable(path), pq.ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if name.startswith(beginnings)]
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, columns=names)

    def values(self, subset: str, column: str, row: int) -> Array | None:
        """Return one ground truth or prediction in its own shape, wherever it lies; None where the sample failed."""
        import pyarrow.parquet as pq

        file = pq.ParquetFile(self._file(subset, "parquet"))
        field = file.schema_arrow.field(column)
        group = 0
        while row >= file.metadata.row_group(group).num_rows:
            row -= file.metadata.row_group(group).num_rows
            group += 1
        found = file.read_row_group(group, columns=[column]).column(0)[row]
        if not found.is_valid:
            return None
        if (field.metadata or {}).get(b"in") == b"blobs":
            found = self._blob(subset, column, found.as_py())
        return np.asarray(found.values).reshape(shape_of(field) or (-1,))

    def latents(self, subset: str, space: str = LATENT) -> Float32Array:
        """Return the latent vectors of a subset, a row a sample as in its table; rows of failed samples are NaN."""
        known = self.spaces
        if space not in known:
            listed = ", ".join(known) or "none"
            raise EvaluationError(
                f"There is no latent space {space!r} here.", hint=f"{did_you_mean(space, known)} It has {listed}."
            )
        path = self._file(subset, f"{space_file_name(space)}.npy")
        with self._readable(path):
            vectors: Float32Array = np.load(path, mmap_mode="r", allow_pickle=False)
        return vectors

    def failures(self, subset: str | None = None) -> list[Failure]:
        """Return the samples that failed, with the reason, of one subset or of all."""
        import pyarrow.compute as pc

        found = []
        for name in self.subsets if subset is None else [subset]:
            table = self.table(name, ["id", "error"])
            failed = table.filter(pc.is_valid(table["error"]))
            found += [Failure(*pair) for pair in zip(*failed.to_pydict().values(), strict=True)]
        return found

    @cached_property
    def _blobs(self) -> dict[str, tuple[Any, Int64Array]]:
        return {}

    def _blob(self, subset: str, column: str, row: int) -> Any:
        if subset not in self._blobs:
            reader = pa.ipc.open_file(pa.memory_map(str(self._file(subset, "blobs.arrow"))))
            counts = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
            self._blobs[subset] = reader, np.cumsum([0, *counts])
        reader, starts = self._blobs[subset]
        batch = int(np.searchsorted(starts, row, side="right")) - 1
        return reader.get_batch(batch).column(column)[row - int(starts[batch])]

    @contextlib.contextmanager
    def _readable(self, path: Path) -> Iterator[None]:
        """Turn what the readers of a format say about damage into words about the evaluation."""
        try:
            yield
        except (OSError, EOFError, ValueError, pa.ArrowException) as error:
            raise EvaluationError(
                f"{path.name!r} of evaluation {self.number} of run {self.run.name!r} cannot be read: {error}.",
                hint="Evaluate again.",
            ) from error

    def _file(self, subset: str, ending: str) -> Path:
        path = self.path / f"{subset}.{ending}"
        if path.is_file():
            return path
        if not self.finished:
            raise EvaluationError(
                f"Evaluation {self.number} of run {self.run.name!r} is not finished.",
                hint="Run the same `cutaway evaluate` again: it goes on where it stopped.",
            )
        known = self.subsets
        listed = ", ".join(known) or "none"
        raise EvaluationError(
            f"Evaluation {self.number} has no {path.name!r}.",
            hint=f"{did_you_mean(subset, known)} Its subsets are {listed}.",
        )


def evaluations(run: Run) -> list[Evaluation]:
    """Return the evaluations of a run in their order, the unfinished among them."""
    return [
        Evaluation(run, number)
        for number in _numbers(run)
        if (run.path / evaluation_key(number, SOURCE_FILE)).is_file()
    ]


def new_evaluation(run: Run) -> Evaluation:
    """Return the next evaluation of a run, of which nothing is written yet."""
    return Evaluation(run, max(_numbers(run), default=-1) + 1)


def find_unfinished(key: str, root: Path | None = None) -> Run | None:
    """Return the newest run of its own that holds an unfinished evaluation of this key, made by nobody now."""
    for run in list_runs(root):
        if run.identity.get("kind") == "evaluation" and any(
            one.source.key == key and not one.finished for one in evaluations(run)
        ):
            return run if run.state().has_ended else None
    return None


def claim_evaluations(run: Run) -> Lease:
    """Become the one process that evaluates into a run. Raises `RunLocked` while another one does."""
    lease = next_lease(run.storage, str(run.path), "evaluate")
    for one in evaluations(run):
        # A process that was killed at its very end left parts of which everything is merged.
        if one.finished and (one.path / PARTS).is_dir():
            run.storage.remove(evaluation_key(one.number, PARTS))
    return lease


def spaces_document(evaluation: Evaluation) -> str:
    """Return the key of the document that says which latent spaces were added later."""
    return evaluation_key(evaluation.number, SPACES_FILE)


def added_spaces(evaluation: Evaluation) -> dict[str, Any]:
    """Return the latent spaces that were added later, the unfinished among them, with what each is made from."""
    with contextlib.suppress(RunDamaged):
        held = (evaluation.run.document(spaces_document(evaluation)) or {}).get("spaces")
        if isinstance(held, dict):
            return {name: about for name, about in held.items() if isinstance(about, dict)}
    return {}


def write_source(evaluation: Evaluation, content: Mapping[str, Any]) -> None:
    """Write `source.json` whole."""
    evaluation.run.write_document(evaluation_key(evaluation.number, SOURCE_FILE), dict(content))


def space_file_name(space: str) -> str:
    """Return the name of a latent space as it stands in file names.

    >>> space_file_name("my space/2"), space_file_name("latent")
    ('my_space_2', 'latent')
    """
    return re.sub(r"[^A-Za-z0-9_]+", "_", space) or "_"


def _numbers(run: Run) -> list[int]:
    with contextlib.suppress(FileNotFoundError):
        return sorted(int(path.name) for path in (run.path / SAMPLES).iterdir() if path.name.isdigit())
    return []
