"""Which labels the demo makes wrong: the same for a seed wherever it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # `cutaway --help` imports this module, and must not load numpy.
    from cutaway.arrays import Int64Array

__all__ = ["SHARE", "TRAINING_IMAGES", "planted_labels"]

TRAINING_IMAGES = 1000
SHARE = 0.10
# Which digit each is most easily taken for: wrong labels of people are of this kind, and harder to find than any other.
CONFUSABLE = {0: 6, 1: 7, 2: 7, 3: 5, 4: 9, 5: 3, 6: 0, 7: 1, 8: 3, 9: 4}


def planted_labels(right: Int64Array, seed: int) -> Int64Array:
    """Return labels with a share of them made wrong.

    >>> import numpy as np
    >>> right = np.arange(10)
    >>> (planted_labels(right, 0) != right).sum()
    np.int64(1)
    """
    import numpy as np

    rows = np.random.default_rng(seed).choice(len(right), int(SHARE * len(right)), replace=False)
    labels = right.copy()
    labels[rows] = [CONFUSABLE[int(one)] for one in right[rows]]
    return labels
