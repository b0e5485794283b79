"""What is taken along of single samples: everything that their page shows, heat map and similars included.

For a list of samples, since each asks the model; the page of any other sample says that it needs the studio.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cutaway.studio.freezing.taking import Taker, pairs

__all__ = ["chosen_samples", "take_samples"]

MOST_BY_ITSELF = 50
# So many the page of a sample asks for, and that of the population.
_SIMILAR = (20, 24)


def chosen_samples(take: Taker, worst: Sequence[str]) -> list[str]:
    """Return the samples to take along where nobody says which: likely wrong, worst, and one of each insight."""
    found = take.look("insights") or {}
    shown = [insight["samples"][0] for insight in found.get("insights", []) if insight["samples"]]
    suspicious, _ = take.rows("suggestions", pairs(decided="all"), most=MOST_BY_ITSELF // 2)
    named = [*shown[: MOST_BY_ITSELF // 4], *(row["sample"] for row in suspicious), *worst]
    return list(dict.fromkeys(named))[:MOST_BY_ITSELF]


def take_samples(take: Taker, samples: Sequence[str]) -> int:
    """Take the pages of samples along; return how many of them have a heat map."""
    take.name_samples(samples)
    unknown: list[str] = []
    heat_maps = 0
    for sample in samples:
        one: dict[str, Any] | None = take.take("sample", pairs(sample=sample))
        if one is None:
            unknown.append(sample)
            continue
        take.name_samples(twin["sample"] for twin in one["twins"])
        take.take("sample/visuals", pairs(sample=sample))
        for count in _SIMILAR:
            similar = take.take("sample/similar", pairs(sample=sample, count=count)) or {}
            take.name_samples(row["sample"] for row in similar.get("similar", []))
        # The page asks without the sanity figure first, to be quick; here there is nothing to wait for.
        keys = [pairs(sample=sample, sanity=sanity) for sanity in ("false", "true")]
        heat_maps += take.take("sample/heat-maps", keys[-1], keys=keys, seconds=False) is not None
    without = len(samples) - len(unknown) - heat_maps
    if without:
        take.left_out.append(f"Heat maps of {without:,} samples: {take.refusal}")
    if unknown:
        take.left_out.append(f"{len(unknown):,} samples that this evaluation does not have, such as {unknown[0]!r}.")
    return heat_maps
