"""The small pictures of samples, by their ids: only what is a PNG, of a size that a preview has, leaves the folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from cutaway.run.file_stamp import FileStamp, stamp_of
from cutaway.run.identity import Run
from cutaway.run.layout import PREVIEWS
from cutaway.studio.answers.errors import Refusal

__all__ = ["SamplePreviews", "has_pictures"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_BYTES = 4 << 20
# A larger one is fetched by itself: many at once are one answer.
MOST_OF_SEVERAL = 64 << 10
# So many files of previews are remembered by which sample lies where.
MOST_FILES = 8

_Places = dict[str, tuple[int, int]]


def has_pictures(run: Run) -> bool:
    """Whether a run has previews of any subset."""
    return bool(_files(run))


class SamplePreviews:
    """Finds the preview of a sample; remembers where those of the last few files lie."""

    def __init__(self) -> None:
        self._index = lru_cache(maxsize=MOST_FILES)(_index)

    def png(self, run: Run, sample: str) -> bytes:
        """Return the picture of a sample; refused where there is none that can be shown."""
        for path in _files(run):
            place = self._places(path).get(sample)
            found = None if place is None else _pictures(path, place[0], [place[1]], MOST_BYTES)[0]
            if found is not None:
                return found
        hint = "`cutaway evaluate` draws a preview of each sample."
        raise Refusal(404, "preview-unavailable", f"No preview of sample {sample!r} in run {run.name!r}.", hint)

    def several(self, run: Run, samples: Sequence[str]) -> dict[str, bytes]:
        """Return the pictures of some samples; those of which none can be shown here, or a large one, are left out."""
        found: dict[str, bytes] = {}
        for path in _files(run):
            places = self._places(path)
            wanted: dict[int, dict[str, int]] = {}
            for sample in samples:
                if sample in places and sample not in found:
                    number, row = places[sample]
                    wanted.setdefault(number, {})[sample] = row
            for number, rows in wanted.items():
                pictures = _pictures(path, number, list(rows.values()), MOST_OF_SEVERAL)
                found |= {name: png for name, png in zip(rows, pictures, strict=True) if png is not None}
        return found

    def known(self, run: Run, samples: set[str]) -> set[str]:
        """Return those of some samples that have a preview."""
        return {sample for path in _files(run) for sample in samples & self._places(path).keys()}

    def _places(self, path: Path) -> _Places:
        stamp = stamp_of(path)
        return {} if stamp is None else self._index(path, stamp)


def _files(run: Run) -> list[Path]:
    """The files of previews, by what lies in the folder; no name that was asked for becomes a path."""
    try:
        return sorted(path for path in (run.path / PREVIEWS).iterdir() if path.suffix == ".arrow" and path.is_file())
    except OSError:
        return []


def _index(path: Path, _: FileStamp) -> _Places:
    places: _Places = {}
    try:
        with pa.OSFile(str(path)) as source:
            reader = pa.ipc.open_file(source, options=pa.ipc.IpcReadOptions(included_fields=[0]))
            for number in range(reader.num_record_batches):
                ids = _checked(reader.get_batch(number).column(0)).to_pylist()
                places.update((one, (number, row)) for row, one in enumerate(ids) if isinstance(one, str))
    except (OSError, pa.ArrowException, ValueError, IndexError):
        # Cut short or garbled: what was read before that can be shown.
        return places
    return places


def _checked(column: pa.Array) -> pa.Array:
    """Return a column whose values lie where it says: no checksum covers these files, and Arrow believes them."""
    column.validate(full=True)
    return column


def _pictures(path: Path, number: int, rows: Sequence[int], most: int) -> list[bytes | None]:
    """Return the pictures of some rows of a batch; None for what is no PNG, or one of more than `most` bytes."""
    try:
        with pa.OSFile(str(path)) as source:
            column = _checked(pa.ipc.open_file(source).get_batch(number).column(1))
            found = [column[row].as_py() for row in rows]
    except (OSError, pa.ArrowException, ValueError, IndexError):
        return [None] * len(rows)
    return [one if isinstance(one, bytes) and one.startswith(SIGNATURE) and len(one) <= most else None for one in found]
