"""`make_map`: chooses the method, says what a reader should know, and keeps rows that have no place out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.devices import choose_device
from cutaway.analysis.libraries import library
from cutaway.analysis.mapping.aligning import Earlier, anchored_start, earlier_map, turned
from cutaway.analysis.mapping.graph import neighbour_graph
from cutaway.analysis.mapping.layout import lay_out
from cutaway.analysis.mapping.nearest import nearest_rows
from cutaway.analysis.mapping.placing import place
from cutaway.analysis.mapping.values import Map, PreviousMap
from cutaway.analysis.mapping.vectors import FAR, Vectors, prepare
from cutaway.arrays import Array, Float32Array
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    import torch

__all__ = ["make_map", "tsne_positions", "two_directions"]

METHODS = ("umap", "tsne", "pca")
# Few samples need more steps to find their places, and take them in no time.
FEW, STEPS_OF_FEW, STEPS, STEPS_ALIGNED = 10_000, 500, 300, 200
# How far out the first positions reach.
START_WIDTH = 10.0
# Samples below this number are put down by their principal directions, whatever the method.
FEWEST = 4
# The time of t-SNE grows faster than the samples: so many take minutes on two cores, of more a part is taken.
LARGEST = 20_000
PERPLEXITY = 30.0

# Beyond so many columns the whole matrix of covariances costs more than a few passes over the rows.
WIDEST_COVARIANCE = 1024
PASSES, EXTRA = 4, 10


def make_map(
    latents: Array,
    *,
    method: str = "umap",
    seed: int = 0,
    neighbours: int = 15,
    previous: PreviousMap | None = None,
    device: str | None = None,
    progress: Listener | None = None,
) -> Map:
    """Return a map of latent vectors (n, d): positions in the plane, near where they are alike.

    `method` is `umap` (the objective of UMAP on a graph of `neighbours` nearest neighbours), `tsne` or `pca`. The
    same `seed` gives the same map on the same device and number of threads. With `previous`, samples that kept at
    least half of their neighbours stay within 2 % of the earlier map's width (`umap`), or the map is turned as a
    whole to lie like the earlier one (`tsne`, `pca`). Rows that are not finite get NaN.

    >>> import numpy as np
    >>> latents = np.random.default_rng(0).normal(size=(50, 8))
    >>> make_map(latents, method="pca").positions.shape
    (50, 2)
    """
    if method not in METHODS:
        raise ConfigurationError(
            f"`method` must be one of {', '.join(METHODS)}, but got {method!r}.", hint=did_you_mean(method, METHODS)
        )
    if neighbours < 2:
        raise ConfigurationError(f"`neighbours >= 2` must hold, but got neighbours={neighbours}.")
    vectors = prepare(latents)
    earlier = None if previous is None else earlier_map(previous, vectors.finite)
    notes = _notes(vectors)
    if earlier is not None and (earlier.known.sum() <= FEWEST or not earlier.width > 0):
        notes.append("The earlier map shares too few samples with this one to align them.")
        earlier = None
    values = vectors.values
    if method == "umap" and len(values) >= FEWEST:
        positions = _umap(values, seed=seed, neighbours=neighbours, earlier=earlier, device=device, progress=progress)
    else:
        positions, said = _whole_turn(values, method, seed, earlier)
        notes += said
    return Map(vectors.spread(positions), method, seed, None, tuple(notes))


def _notes(vectors: Vectors) -> list[str]:
    lost, rows = int((~vectors.finite).sum()), len(vectors.values)
    notes = []
    if lost:
        notes.append(f"{lost} of {len(vectors.finite)} samples have no position: their latent vector is not finite.")
    if vectors.clipped:
        notes.append(
            f"{vectors.clipped} samples lie more than {FAR:.0f} times as far out as the typical one; "
            "they are drawn at that distance."
        )
    if rows > 1 and not (vectors.values != vectors.values[:1]).any():
        notes.append(f"All {rows} samples have the same latent vector, so their places in the map mean nothing.")
    elif 0 < rows < FEWEST:
        notes.append(f"{rows} samples are too few for neighbourhoods; they lie along their principal directions.")
    return notes


def _whole_turn(
    values: Float32Array, method: str, seed: int, earlier: Earlier | None
) -> tuple[Float32Array, list[str]]:
    """Return positions by the methods that know no anchor, and notes."""
    notes: list[str] = []
    if method == "tsne" and len(values) >= FEWEST:
        positions, said = tsne_positions(values, seed)
        notes += said
    else:
        positions = two_directions(values, seed)
    if earlier is None:
        return positions, notes
    notes.append("The map is turned to lie like the earlier one; its samples are not held in place.")
    return turned(positions, earlier), notes


def _umap(
    values: Float32Array,
    *,
    seed: int,
    neighbours: int,
    earlier: Earlier | None,
    device: str | None,
    progress: Listener | None,
) -> Float32Array:
    where = choose_device(device)
    import torch

    rows = len(values)
    points = torch.from_numpy(values).to(where)
    search = Counter(progress, rows, "samples", "finding neighbours")
    numbers, distances = nearest_rows(points, min(neighbours, rows - 1), seed=seed, counter=search)
    graph = neighbour_graph(numbers, distances)
    anchor = None
    if earlier is None:
        start, steps = _first_positions(values, seed).to(where), STEPS_OF_FEW if rows <= FEW else STEPS
    else:
        start, anchor = anchored_start(earlier, points, numbers, seed)
        steps = STEPS_ALIGNED
    layout = Counter(progress, steps, "steps", "laying the map out")
    return lay_out(graph, start, steps=steps, seed=seed, anchor=anchor, counter=layout).cpu().numpy()


def _first_positions(values: Float32Array, seed: int) -> torch.Tensor:
    """Return the principal directions, with a little noise: rows that begin at one place would never part."""
    import torch

    start = two_directions(values, seed)
    start *= START_WIDTH / max(float(np.abs(start).max()), 1e-12)
    noise = np.random.default_rng(seed).standard_normal(start.shape, np.float32)
    return torch.from_numpy(start + 1e-3 * noise)


def tsne_positions(values: Float32Array, seed: int, largest: int = LARGEST) -> tuple[Float32Array, tuple[str, ...]]:
    """Return positions (n, 2) by scikit-learn, beginning at the principal directions, and notes."""
    by_tsne = library("sklearn.manifold", "A map by t-SNE").TSNE
    rows = np.arange(len(values))
    if len(values) > largest:
        rows = np.sort(np.random.default_rng(seed).choice(len(values), largest, replace=False))
    chosen = values[rows]
    begin = two_directions(chosen, seed)
    # Small, as t-SNE wants it: samples that begin far apart never meet.
    begin = 1e-4 * begin / max(float(begin.std()), 1e-12)
    begin = begin + 1e-6 * np.random.default_rng(seed).standard_normal(begin.shape).astype(np.float32)
    perplexity = min(PERPLEXITY, (len(chosen) - 1) / 3)
    model = by_tsne(perplexity=perplexity, init=begin.astype(np.float32), random_state=seed, n_jobs=-1)
    found = np.asarray(model.fit_transform(chosen), np.float32)
    if len(rows) == len(values):
        return found, ()
    positions = np.empty((len(values), 2), np.float32)
    others = np.ones(len(values), np.bool_)
    others[rows] = False
    positions[rows] = found
    positions[others] = place(values[others], chosen, found, seed=seed)
    note = f"t-SNE of {len(rows)} of {len(values)} samples, chosen by the seed; the others are placed near those."
    return positions, (note,)


def two_directions(values: Float32Array, seed: int = 0) -> Float32Array:
    """Return the coordinates (n, 2) of rows along the first two principal directions, zeros where there are none.

    A direction points to where its largest part is positive, so that it does not turn about from call to call.
    """
    rows, width = values.shape
    found = np.zeros((rows, 2), np.float32)
    if rows < 2 or width == 0:
        return found
    centred = values - values.mean(axis=0, dtype=np.float64).astype(np.float32)
    directions = _whole(centred) if width <= WIDEST_COVARIANCE else _by_passes(centred, seed)
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.where(directions[largest, range(directions.shape[1])] < 0, -1, 1)
    found[:, : directions.shape[1]] = centred @ directions.astype(np.float32)
    return found


def _whole(centred: Float32Array) -> Float32Array:
    _, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    return np.asarray(vectors[:, ::-1][:, :2], np.float32)


def _by_passes(centred: Float32Array, seed: int) -> Float32Array:
    """A subspace that is sent through the covariance a few times turns to its first directions."""
    rng = np.random.default_rng(seed)
    basis = rng.standard_normal((centred.shape[1], min(2 + EXTRA, len(centred)))).astype(np.float32)
    for _ in range(PASSES):
        basis, _ = np.linalg.qr(centred.T @ (centred @ basis))
    _, _, vectors = np.linalg.svd(centred @ basis, full_matrices=False)
    return np.asarray(basis @ vectors[:2].T, np.float32)
