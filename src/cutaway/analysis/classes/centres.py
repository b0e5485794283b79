"""How far each sample lies from the middle of each class in latent space. Works in blocks; fills no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cutaway.arrays import Array, BoolArray, Float32Array, Float64Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError, did_you_mean

__all__ = ["ClassCentres", "NearestClasses", "class_centres", "class_distances", "in_words", "nearest_classes"]

# A block of distances in float64, and the most bytes that all of them together may take.
BLOCK_BYTES = 64 * 2**20
MOST_BYTES = 2 * 2**30

Labels: TypeAlias = Sequence[Any] | Array | pa.Array | pa.ChunkedArray


@dataclass(frozen=True)
class ClassCentres:
    """The mean latent vector of each class, in the order of `classes`, and of how many samples; NaN of none."""

    classes: tuple[str, ...]
    centres: Float64Array
    counts: Int64Array


@dataclass(frozen=True)
class NearestClasses:
    """For each sample the classes whose centres lie nearest: their numbers, nearest first, and the distances.

    Where there are fewer classes with samples than asked for, or the latent vector is not finite, the number is -1 and
    the distance NaN.
    """

    classes: tuple[str, ...]
    numbers: Int64Array
    distances: Float32Array


def class_centres(
    latents: Array, labels: Labels, classes: Sequence[str], *, centres_from: BoolArray | None = None
) -> ClassCentres:
    """Return the centre of each class: the mean of its labelled samples whose latent vectors are finite.

    `centres_from` says which samples count, such as only those of training; by default all do.
    """
    vectors = _checked(latents)
    numbers = _numbers(labels, classes, len(vectors))
    counted = np.isfinite(vectors).all(axis=1) & (numbers >= 0)
    if centres_from is not None:
        given = np.asarray(centres_from)
        if given.dtype != np.bool_ or given.shape != counted.shape:
            raise ConfigurationError(
                f"`centres_from` must be yes or no for each of {len(vectors)} samples, "
                f"but got {given.dtype} of shape {given.shape}."
            )
        counted &= given
    if not counted.any():
        raise AnalysisUnavailable("class distances", "no sample has both a label and a latent vector that is finite.")
    rows = np.flatnonzero(counted)
    rows = rows[np.argsort(numbers[rows], kind="stable")]
    counts = np.bincount(numbers[rows], minlength=len(classes))
    centres = np.full((len(classes), vectors.shape[1]), np.nan)
    start = 0
    for number in np.flatnonzero(counts):
        end = start + int(counts[number])
        centres[number] = vectors[rows[start:end]].mean(axis=0, dtype=np.float64)
        start = end
    return ClassCentres(tuple(classes), centres, counts)


def class_distances(
    latents: Array, labels: Labels, classes: Sequence[str], *, centres_from: BoolArray | None = None
) -> Float32Array:
    """Return the Euclidean distance of each sample to the centre of each class, a column for each of `classes`.

    A sample without a label has distances too. They are NaN to a class without samples, and for a sample whose latent
    vector is not finite. Where all of them would take more than 2 GiB, `nearest_classes` gives the few that matter.
    """
    size = 4 * len(latents) * len(classes)
    if size > MOST_BYTES:
        raise AnalysisUnavailable(
            "table of class distances",
            f"{len(latents):,} samples times {len(classes):,} classes take {size / 2**30:.1f} GiB.",
            hint="`nearest_classes` gives the nearest few of each sample.",
        )
    middles = class_centres(latents, labels, classes, centres_from=centres_from)
    distances = np.empty((len(latents), len(classes)), np.float32)
    for rows, block in _blocks(_checked(latents), middles):
        distances[rows] = block
    return distances


def nearest_classes(
    latents: Array,
    labels: Labels,
    classes: Sequence[str],
    count: int = 5,
    *,
    centres_from: BoolArray | None = None,
) -> NearestClasses:
    """Return the classes whose centres lie nearest to each sample, however many classes there are."""
    if count < 1:
        raise ConfigurationError(f"`count >= 1` must hold, but got count={count}.")
    middles = class_centres(latents, labels, classes, centres_from=centres_from)
    kept = min(count, len(classes))
    numbers = np.full((len(latents), count), -1, np.int64)
    distances = np.full((len(latents), count), np.nan, np.float32)
    for rows, block in _blocks(_checked(latents), middles):
        compared = np.where(np.isnan(block), np.inf, block)
        near = np.argpartition(compared, kept - 1, axis=1)[:, :kept]
        # Of two as near, the one that comes first.
        order = np.lexsort((near, np.take_along_axis(compared, near, axis=1)), axis=1)
        near = np.take_along_axis(near, order, axis=1)
        found = np.take_along_axis(block, near, axis=1)
        numbers[rows, :kept] = np.where(np.isnan(found), -1, near)
        distances[rows, :kept] = found
    return NearestClasses(tuple(classes), numbers, distances)


def in_words(distances: Array, classes: Sequence[str], label: str | None = None) -> str:
    """Return what one row of distances says: the nearest two classes, and its label's wherever that comes.

    >>> in_words(np.array([9.0, 7.71, 6.83]), ["4", "5", "6"], "5")
    '6.83 to class 6, 7.71 to class 5, its label'
    """
    row = np.asarray(distances, np.float64)
    order = [int(one) for one in np.argsort(row, kind="stable") if np.isfinite(row[one])]
    told = [one for place, one in enumerate(order) if place < 2 or classes[one] == label]
    if not told:
        return "no distances: the latent vector is not finite, or no class has samples"
    return ", ".join(
        f"{row[one]:.2f} to class {classes[one]}" + (", its label" if classes[one] == label else "") for one in told
    )


def _checked(latents: Array) -> Array:
    vectors = np.asarray(latents)
    if vectors.ndim != 2 or vectors.dtype.kind not in "biuf":
        raise ConfigurationError(
            f"`latents` must be numbers with a row for each sample, but got {vectors.dtype} of shape {vectors.shape}."
        )
    return vectors


def _numbers(labels: Labels, classes: Sequence[str], rows: int) -> Int64Array:
    """Return the number of each sample's class, -1 where it has no label."""
    given = labels.to_pylist() if isinstance(labels, pa.Array | pa.ChunkedArray) else list(labels)
    if len(given) != rows:
        raise ConfigurationError(f"There are {rows} latent vectors, but {len(given)} labels.")
    known = {str(name): number for number, name in enumerate(classes)}
    if len(known) < len(classes):
        raise ConfigurationError("`classes` names one class twice.", hint="Name each once.")
    numbers = np.full(rows, -1, np.int64)
    for row, label in enumerate(given):
        if label is None or label != label:  # NaN is no label either  # noqa: PLR0124
            continue
        if str(label) not in known:
            raise ConfigurationError(f"Label {str(label)!r} is no class.", hint=did_you_mean(str(label), known))
        numbers[row] = known[str(label)]
    return numbers


def _blocks(vectors: Array, middles: ClassCentres) -> Iterator[tuple[slice, Float64Array]]:
    """Yield distances for some rows at a time, in float64 and around the centres' own middle, which keeps near ones."""
    known = middles.counts > 0
    middle = middles.centres[known].mean(axis=0)
    centres = middles.centres[known] - middle
    squares = np.einsum("ij,ij->i", centres, centres)
    step = max(1, BLOCK_BYTES // (8 * max(len(middles.classes), vectors.shape[1], 1)))
    for start in range(0, len(vectors), step):
        rows = slice(start, min(start + step, len(vectors)))
        part = vectors[rows] - middle
        fine = np.isfinite(part).all(axis=1)
        part = np.where(fine[:, None], part, 0.0)
        found = np.einsum("ij,ij->i", part, part)[:, None] + squares - 2 * (part @ centres.T)
        block = np.full((len(part), len(known)), np.nan)
        block[:, known] = np.sqrt(np.maximum(found, 0.0))
        block[~fine] = np.nan
        yield rows, block
