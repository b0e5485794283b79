"""RISE: the score of many randomly masked copies of a sample, averaged at each place by how much of it was left."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.heat_maps.asking import Found, HeatMapQuestion, changed_scores, packs, predict
from cutaway.analysis.heat_maps.resizing import resize
from cutaway.arrays import Array, Float32Array
from cutaway.errors import ConfigurationError

__all__ = ["Masks", "rise"]

# As in the method's own paper: a coarse grid, half of whose cells are left.
_CELLS = 7
_KEPT = 0.5
_MOST_MASKS = 100_000


class Masks:
    """Seeded random masks between 0 (taken away) and 1 (left), the same whatever number of them is made at once."""

    def __init__(self, sizes: tuple[int, ...], count: int, seed: int, *, hard: bool) -> None:
        random = np.random.default_rng(seed)
        self._sizes, self._hard = sizes, hard
        cells = sizes if hard else tuple(min(_CELLS, size) for size in sizes)
        # Cells wider than an even share, by which the grid can be shifted: edges of cells then fall anywhere.
        self._wide = tuple(-(-size // cell) for size, cell in zip(sizes, cells, strict=True))
        grid = cells if hard else tuple(cell + 1 for cell in cells)
        self._grids = random.random((count, *grid), dtype=np.float32) < _KEPT
        self._shifts = random.integers(0, self._wide, size=(count, len(sizes)))

    def __getitem__(self, part: slice) -> Float32Array:
        grids = self._grids[part].astype(np.float32)
        if self._hard:
            return grids
        whole = tuple(cell * wide for cell, wide in zip(grids.shape[1:], self._wide, strict=True))
        large = resize(grids, whole)
        masks = np.empty((len(large), *self._sizes), np.float32)
        for mask, from_, shift in zip(masks, large, self._shifts[part], strict=True):
            mask[...] = from_[tuple(slice(at, at + size) for at, size in zip(shift, self._sizes, strict=True))]
        return masks


def rise(asked: HeatMapQuestion) -> Found:
    """Return maps by RISE: how far the score lies above its mean over all masks where a place is left."""
    count = asked.options.masks
    if not 2 <= count <= _MOST_MASKS:
        raise ConfigurationError(f"`2 <= masks <= {_MOST_MASKS}` must hold, but got masks={count}.")
    axes = asked.axes
    masks = Masks(axes.sizes, count, asked.options.seed, hard=axes.tokens or axes.features)
    scores, targets = predict(asked)
    weighed = np.zeros((asked.count, *axes.sizes))
    kept = np.zeros((asked.count, *axes.sizes))
    sums = np.zeros(asked.count)
    counter = Counter(asked.progress, asked.count * count, "masks", "RISE")
    for samples, part in packs(asked, count):
        some = masks[part]
        found = changed_scores(asked, samples, _masked(asked, samples, some), targets)
        flat = some.reshape(len(some), -1)
        weighed[samples] += (found.T.astype(np.float32) @ flat).reshape(weighed[samples].shape)
        kept[samples] += some.sum(axis=0)
        sums[samples] += found.sum(axis=0)
        counter.advance(found.size)
    mean = (sums / count).reshape(-1, *[1] * len(axes.sizes))
    maps = (weighed / np.maximum(kept, 1e-6) - mean).astype(np.float32)
    return Found(maps, scores, targets, signed=True, notes=(f"{count} random masks, seed {asked.options.seed}.",))


def _masked(asked: HeatMapQuestion, samples: slice, masks: Float32Array) -> Array:
    """Return (masks, samples, ...): each sample behind each mask, the baseline showing where it is taken away."""
    values, removed = asked.values[samples], asked.removed[samples]
    share = masks[:, None]
    if asked.axes.channel is not None:
        share = np.expand_dims(share, asked.axes.channel + 1)
    if asked.axes.tokens:
        return np.where(share > 0.5, values, removed)
    if asked.axes.whole:
        return np.asarray(np.round(removed + (values.astype(np.float32) - removed) * share), values.dtype)
    return np.asarray(removed + (values - removed) * share.astype(values.dtype))
