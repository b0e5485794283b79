"""Latent spaces that are added to an evaluation later: `<subset>.<space>.npy`, filled in order and resumable.

`spaces.json` says what each was made from and how far it is. Fills nothing by itself: who has the model does.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cutaway.arrays import Float32Array
from cutaway.errors import StorageError
from cutaway.run.evaluations import Evaluation, added_spaces, space_file_name, spaces_document

__all__ = ["SpaceFile", "are_scales", "begin_space", "finish_space", "has_space"]


class SpaceFile:
    """The vectors of one subset in one added space, on their way. Rows come in order; a kill costs those not kept."""

    _vectors: np.memmap[Any, Any] | None = None

    def __init__(self, evaluation: Evaluation, space: str, subset: str, shape: tuple[int, int]) -> None:
        self._evaluation, self._space, self._subset = evaluation, space, subset
        name = f"{subset}.{space_file_name(space)}.npy"
        self._path = evaluation.path / name
        # A name of its own, so that nobody takes what is half filled for the whole.
        self._part = evaluation.path / f".{name}.part"
        self.done = _done(evaluation, space, subset, shape[0]) if self._part.is_file() else 0
        if _map_array(self._path, shape, "r") is not None:
            self.done = shape[0]
            return
        self._vectors = _map_array(self._part, shape, "r+")
        if self._vectors is None:
            self.done = 0
            self._vectors = np.lib.format.open_memmap(self._part, mode="w+", dtype=np.float32, shape=shape)

    def write(self, start: int, vectors: Float32Array) -> None:
        """Write the rows from `start` on."""
        if self._vectors is not None:
            self._vectors[start : start + len(vectors)] = vectors
            self.done = start + len(vectors)

    def keep(self) -> None:
        """Make what was written survive a kill, and say how far it is."""
        if self._vectors is None:
            return
        try:
            self._vectors.flush()
        except OSError as error:
            raise StorageError(f"Cannot write {self._part}: {error.strerror or error}.") from error
        _note(self._evaluation, self._space, {"done": {self._subset: self.done}})

    def finish(self) -> None:
        """Give the file its name."""
        if self._vectors is None:
            return
        self.keep()
        self._vectors = None
        self._part.replace(self._path)


def begin_space(evaluation: Evaluation, space: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Say what a space is made from, unless an earlier process began the same one; return what holds.

    Only for whoever holds the lease: what a killed process left beside `spaces.json` goes here.
    """
    for path in evaluation.path.glob(".spaces.json.*"):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
    begun: dict[str, Any] = added_spaces(evaluation).get(space, {})
    same = begun and all(begun.get(name) == value for name, value in about.items() if name != "scales")
    if same and are_scales(begun.get("scales"), len(about["scales"])):
        return begun
    for subset in evaluation.subsets:
        file = f"{subset}.{space_file_name(space)}.npy"
        for path in (evaluation.path / file, evaluation.path / f".{file}.part"):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
    held = {**about, "done": {}, "finished": False}
    evaluation.run.write_document(spaces_document(evaluation), {"spaces": {**added_spaces(evaluation), space: held}})
    return held


def are_scales(given: Any, count: int) -> bool:
    """Whether these are what so many layers are divided by: finite numbers above 0."""
    if not isinstance(given, list) or len(given) != count:
        return False
    return all(isinstance(one, int | float) and math.isfinite(one) and one > 0 for one in given)


def has_space(evaluation: Evaluation, space: str) -> bool:
    """Whether a space is there with all of its files; one that says so without them is made anew."""
    files = (evaluation.path / f"{subset}.{space_file_name(space)}.npy" for subset in evaluation.subsets)
    return space in evaluation.spaces and all(file.is_file() for file in files)


def finish_space(evaluation: Evaluation, space: str) -> None:
    """Say that every subset has its vectors."""
    _note(evaluation, space, {"finished": True})


def _note(evaluation: Evaluation, space: str, changes: Mapping[str, Any]) -> None:
    content = added_spaces(evaluation)
    held = content[space]
    before = held.get("done")
    done = {**(before if isinstance(before, dict) else {}), **changes.get("done", {})}
    content[space] = {**held, **changes, "done": done}
    evaluation.run.write_document(spaces_document(evaluation), {"spaces": content})


def _done(evaluation: Evaluation, space: str, subset: str, rows: int) -> int:
    """Return how many rows are kept. What cannot be is 0: filling a row twice costs time, leaving one out a lie."""
    told = added_spaces(evaluation).get(space, {}).get("done")
    done = told.get(subset) if isinstance(told, dict) else None
    return done if isinstance(done, int) and 0 <= done <= rows else 0


def _map_array(path: Path, shape: tuple[int, int], mode: Literal["r", "r+"]) -> np.memmap[Any, Any] | None:
    """Open what an earlier process left; None where it left nothing that fits."""
    try:
        found = np.lib.format.open_memmap(path, mode=mode)
    except (OSError, ValueError):
        return None
    return found if found.shape == shape and found.dtype == np.float32 else None
