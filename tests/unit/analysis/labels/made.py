"""Samples as a short training leaves them, made without one: overlapping classes, a model that read most of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from cutaway.analysis.labels import find_mislabeled
from cutaway.analysis.neighbours import build_index
from cutaway.analysis.neighbours.nearest import nearest_of
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.dynamics import Dynamics
from cutaway.analysis.samples.ranked import Ranked

__all__ = ["CLASSES", "KINDS", "Made", "make", "precision"]

CLASSES = 6
KINDS = ("uniform", "confusable", "one-sided")
VISITS = 4


@dataclass(frozen=True)
class Made:
    """Samples, which labels of them are wrong, the right ones, and the answer in order."""

    samples: Samples
    wrong: np.ndarray
    truth: np.ndarray
    ranked: Ranked

    @property
    def order(self) -> np.ndarray:
        return np.array([int(one) for one in self.ranked.table["sample"].to_pylist()])

    @property
    def scores(self) -> np.ndarray:
        return self.ranked.table["score"].to_numpy()

    @property
    def loss(self) -> np.ndarray:
        """The loss of the trained model."""
        names = list(self.samples.classes)
        codes = np.array([names.index(one) for one in self.samples.table["label"].to_pylist()])
        assert self.samples.probabilities is not None
        return -np.log(self.samples.probabilities[np.arange(len(codes)), codes])


def make(
    kind: str = "uniform",
    rate: float = 0.05,
    *,
    apart: float = 3.0,
    count: int = 3_000,
    seed: int = 0,
    knows: float = 1.0,
    by_heart: bool = False,
) -> Made:
    """Return made samples; the classes lie `apart`, and the model `knows` as much of them as can be known, or less.

    Where it learned labels `by_heart`, the latent vectors of samples that were trained on lie as if their labels were
    right; the last sixth is for validation then.
    """
    random = np.random.default_rng(seed)
    truth = random.integers(0, CLASSES, count)
    # Pairs of neighbouring classes overlap; others hardly do.
    centres = np.stack([np.cos(np.arange(CLASSES)), np.sin(np.arange(CLASSES))], axis=1) * apart
    x = centres[truth] + random.normal(size=(count, 2))
    labels = truth.copy()
    if kind != "none":
        rows = random.choice(count, round(rate * count), replace=False)
        next_one = (truth + 1) % CLASSES
        if kind == "one-sided":
            rows = random.choice(np.flatnonzero(truth == 2), round(rate * count), replace=False)
        others = (truth + random.integers(1, CLASSES, count)) % CLASSES
        labels[rows] = (others if kind == "uniform" else next_one)[rows]
    logits = knows * -0.5 * np.square(x[:, None] - centres).sum(axis=2)
    held_out = np.arange(count) >= count - count // 6 if by_heart else np.ones(count, bool)
    moved = np.where(held_out[:, None], x, x - centres[truth] + centres[labels])
    latents = np.tanh(moved[:, None] @ random.normal(size=(2, 24)) / apart + random.normal(size=24))[:, 0]
    latents = latents + random.normal(0, 0.02 / knows, latents.shape)
    samples = Samples.from_arrays(latents, [f"class {one}" for one in labels], _softmax(logits))
    seen = logits + random.normal(0, 0.7, (VISITS, *logits.shape))
    own = np.take_along_axis(seen, np.broadcast_to(labels[:, None], (VISITS, count, 1)), axis=2)[..., 0]
    others = np.where(np.arange(CLASSES) == labels[:, None], -np.inf, seen).max(axis=2)
    losses = np.log(np.exp(seen - seen.max(axis=2, keepdims=True)).sum(axis=2)) + seen.max(axis=2) - own
    margins = own - others
    if by_heart:
        losses[:, held_out] = margins[:, held_out] = np.nan
        subset = pa.array(np.where(held_out, "validation", "training"))
        place = samples.table.column_names.index("subset")
        samples = replace(samples, table=samples.table.set_column(place, "subset", subset))
    samples = replace(samples, dynamics=Dynamics(losses.astype(np.float32), margins.astype(np.float32)))
    ranked = find_mislabeled(samples, nearest_of(samples, lambda: build_index(samples.latents)))
    return Made(samples, labels != truth, truth, ranked)


def precision(wrong: np.ndarray, doubt: np.ndarray) -> float:
    """The average precision of a ranking."""
    hits = wrong[np.argsort(-doubt, kind="stable")]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())


def _softmax(logits: np.ndarray) -> np.ndarray:
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)
