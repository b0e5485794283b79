"""Whether scores mean what they say: of the samples with a score of 0.8, are 8 in 10 wrong? Needs the truth."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.analysis.statistics.intervals import share_interval
from cutaway.errors import ConfigurationError

__all__ = ["BINS", "calibration_error", "reliability"]

BINS = 10
"""Into so many equal parts are scores from 0 to 1 divided."""


def reliability(scores: npt.ArrayLike, wrong: npt.ArrayLike, *, bins: int = BINS) -> pa.Table:
    """Return for each range of scores: the mean score, the share that is wrong with its 95 % interval, and the count.

    Ranges without samples are left out. A calibrated score has `score` within `low` and `high`.

    >>> reliability([0.05, 0.95, 0.95], [False, True, True])["share"].to_pylist()
    [0.0, 1.0]
    """
    values, truth = np.asarray(scores, np.float64), np.asarray(wrong, np.bool_)
    if values.ndim != 1 or values.shape != truth.shape:
        raise ConfigurationError(
            "`scores` and `wrong` must have one value for each sample, but got shapes "
            f"{values.shape} and {truth.shape}."
        )
    if not ((values >= 0) & (values <= 1)).all():
        raise ConfigurationError("`scores` must lie from 0 to 1.")
    place = np.minimum((values * bins).astype(np.int64), bins - 1)
    counts = np.bincount(place, minlength=bins)
    kept = np.flatnonzero(counts)
    hits = np.bincount(place, weights=truth, minlength=bins)[kept]
    means = np.bincount(place, weights=values, minlength=bins)[kept] / counts[kept]
    low, high = share_interval(hits, counts[kept])
    return pa.table(
        {
            "from": kept / bins,
            "to": (kept + 1) / bins,
            "count": counts[kept],
            "score": means,
            "share": hits / counts[kept],
            "low": low,
            "high": high,
        }
    )


def calibration_error(scores: npt.ArrayLike, wrong: npt.ArrayLike, *, bins: int = BINS) -> float:
    """Return the expected calibration error: how far scores are from the shares that are wrong, on average.

    >>> round(calibration_error([0.9, 0.9], [True, False]), 3)
    0.4
    """
    table = reliability(scores, wrong, bins=bins)
    counts = np.asarray(table["count"].to_numpy(), np.float64)
    if not counts.sum():
        return float("nan")
    gaps = np.abs(table["score"].to_numpy() - table["share"].to_numpy())
    return float((gaps * counts).sum() / counts.sum())
