"""How likely the suggested label is right: as often as, elsewhere, so clear a favourite is the label. Pure."""

from __future__ import annotations

import numpy as np

from cutaway.arrays import Float64Array

__all__ = ["favourite_right"]

# Into so many groups of equal size, of so many samples at least, are favourites sorted by how clear they are.
MOST_GROUPS, SMALLEST = 20, 50
# A group's share is counted as if it had so many samples more, half of them wrong.
CAUTION = 1.0


def favourite_right(lead: Float64Array, own_lead: Float64Array, scores: Float64Array) -> Float64Array:
    """Return for each sample the probability that its suggested class is right, given that its label is wrong.

    What all signals together prefer most is the label of most samples: the more often, the clearer it is preferred.
    `own_lead` is how far the label lies above the best other class, below 0 where that one is preferred, and says how
    often. `lead` is how far the suggestion lies above the others where the label is left aside. Samples whose label is
    likely wrong, by `scores`, count against no favourite. 0 where nothing is known.
    """
    known = np.isfinite(own_lead)
    found = np.zeros(len(lead))
    if not known.any():
        return found
    clear, right = np.abs(own_lead[known]), own_lead[known] > 0
    weights = np.where(right, 1.0, 1 - scores[known])
    order = np.argsort(clear, kind="stable")
    groups = np.array_split(order, max(1, min(MOST_GROUPS, len(order) // SMALLEST)))
    hits = np.array([(weights[one] * right[one]).sum() + CAUTION / 2 for one in groups])
    counts = np.array([weights[one].sum() + CAUTION for one in groups])
    # The clearer, the more often right.
    shares = np.maximum.accumulate(hits / counts)
    at = np.array([clear[one].mean() for one in groups])
    asked = ~np.isnan(lead)
    found[asked] = np.interp(lead[asked], at, shares, left=0.0)
    return found
