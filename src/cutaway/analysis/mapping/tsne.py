"""t-SNE by scikit-learn; where samples are many, of a part of them, with the others placed near their neighbours."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.mapping.pca import two_directions
from cutaway.analysis.mapping.placing import place
from cutaway.arrays import Float32Array
from cutaway.errors import MissingExtraError

__all__ = ["LARGEST", "tsne_positions"]

# Its time grows faster than the samples; so many take minutes on two cores.
LARGEST = 20_000
PERPLEXITY = 30.0


def tsne_positions(values: Float32Array, seed: int, largest: int = LARGEST) -> tuple[Float32Array, tuple[str, ...]]:
    """Return positions (n, 2), beginning at the principal directions, and notes."""
    try:
        from sklearn.manifold import TSNE
    except ImportError as error:
        raise MissingExtraError("A map by t-SNE", "analysis") from error

    rows = np.arange(len(values))
    if len(values) > largest:
        rows = np.sort(np.random.default_rng(seed).choice(len(values), largest, replace=False))
    chosen = values[rows]
    begin = two_directions(chosen, seed)
    # Small, as t-SNE wants it: samples that begin far apart never meet.
    begin = 1e-4 * begin / max(float(begin.std()), 1e-12)
    begin = begin + 1e-6 * np.random.default_rng(seed).standard_normal(begin.shape).astype(np.float32)
    perplexity = min(PERPLEXITY, (len(chosen) - 1) / 3)
    model = TSNE(perplexity=perplexity, init=begin.astype(np.float32), random_state=seed, n_jobs=-1)
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
