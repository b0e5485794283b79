"""Which labels are worth a look: those in doubt by their scores, or the first of the ranking where there are none."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.fixing import DOUBTFUL
from cutaway.studio.populations.loaded import Loaded

__all__ = ["MISLABELED", "doubted_labels"]

MISLABELED = "mislabeled"
# Of labels without a score so many are listed.
UNSCORED = 100


def doubted_labels(loaded: Loaded) -> pa.Table | None:
    """Return the rows of the labels that are worth a look; None where labels were not analyzed."""
    held = loaded.kept(MISLABELED)
    if held is None:
        return None
    if held.table["score"].null_count:
        return held.table.slice(0, UNSCORED)
    return held.table.filter(pc.greater_equal(held.table["score"], DOUBTFUL))
