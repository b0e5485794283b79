"""Statistics of pairs: two answers, or two losses, to each of the same samples. Functions of counts and arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cutaway.analysis.libraries import library
from cutaway.analysis.statistics.false_shares import false_shares
from cutaway.analysis.statistics.intervals import share_interval
from cutaway.arrays import Float64Array

__all__ = ["adjusted", "flips_test", "paired_interval", "signed_rank_test"]


def flips_test(worse: npt.ArrayLike, better: npt.ArrayLike) -> Float64Array:
    """Return the exact p of McNemar's test, two-sided: how odd so uneven flips are where both models are as good.

    >>> float(flips_test(0, 8))
    0.0078125
    """
    one, other = np.asarray(worse, np.int64), np.asarray(better, np.int64)
    fewer = np.minimum(one, other).astype(np.float64)
    return np.asarray(np.minimum(1.0, 2 * library("scipy.special", "A paired test").bdtr(fewer, one + other, 0.5)))


def paired_interval(
    both: npt.ArrayLike, worse: npt.ArrayLike, better: npt.ArrayLike, neither: npt.ArrayLike
) -> tuple[Float64Array, Float64Array]:
    """Return Newcombe's 95 % interval of the difference of two shares of the same samples: after less before.

    `both` samples are right twice, `worse` before only, `better` after only, `neither` not once. It is the score
    interval of each share, put together with their correlation (Newcombe 1998, method 10).
    """
    a, b, c, d = (np.asarray(one, np.float64) for one in (both, worse, better, neither))
    count = a + b + c + d
    with np.errstate(divide="ignore", invalid="ignore"):
        before, after = (a + b) / count, (a + c) / count
        (low_b, high_b), (low_a, high_a) = share_interval(a + b, count), share_interval(a + c, count)
        margins = (a + b) * (c + d) * (a + c) * (b + d)
        cross = a * d - b * c
        cross = np.where(cross > 0, np.maximum(cross - count / 2, 0), cross)
        phi = np.where(margins > 0, cross / np.sqrt(np.where(margins > 0, margins, 1)), 0.0)
        down = _root(after - low_a, high_b - before, phi)
        up = _root(high_a - after, before - low_b, phi)
    change = after - before
    return np.asarray(change - down), np.asarray(change + up)


def signed_rank_test(changes: Float64Array) -> float:
    """Return Wilcoxon's p, two-sided: how odd such changes are where they are as likely up as down. 1 for no change.

    It goes by ranks, so that a few huge losses decide nothing.
    """
    wilcoxon = library("scipy.stats", "A paired test").wilcoxon
    changed = changes[changes != 0]
    if not len(changed):
        return 1.0
    return float(wilcoxon(changed, method="auto" if len(changed) < 26 else "asymptotic").pvalue)


def adjusted(ps: npt.ArrayLike) -> Float64Array:
    """Return p values for many questions at once, after Benjamini and Hochberg.

    >>> [round(float(p), 3) for p in adjusted([0.01, 0.02, 0.9])]
    [0.03, 0.03, 0.9]
    """
    given = np.asarray(ps, np.float64)
    return false_shares(given * len(given))


def _root(one: Float64Array, other: Float64Array, phi: Float64Array) -> Float64Array:
    return np.asarray(np.sqrt(np.maximum(one**2 - 2 * phi * one * other + other**2, 0)))
