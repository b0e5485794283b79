"""The columns of a table of pairs: what whoever reads one counts on beside sample, score and reason."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["PAIR_COLUMNS"]

PAIR_COLUMNS = {
    **dict.fromkeys(("other", "kind", "subset", "other_subset"), pa.string()),
    "distance": pa.float64(),
    "group": pa.int64(),
}
