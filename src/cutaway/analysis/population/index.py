"""The neighbour index of a population: built once for a large run, kept beside its vectors, and rebuilt from that."""

from __future__ import annotations

import logging

from cutaway.analysis.neighbours import Index, build_index, index_from_parts
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.origin import Origin
from cutaway.errors import CutawayError
from cutaway.evaluation.progress import Listener

__all__ = ["population_index"]

log = logging.getLogger("cutaway.analysis")

NEIGHBOURS = "neighbours"
SEED = 0


def population_index(samples: Samples, origin: Origin | None, progress: Listener | None = None) -> Index:
    """Return the index of some samples; an approximate one of a run is kept, since building it takes a minute."""
    settings = {"seed": SEED, "rows": len(samples)}
    held = None if origin is None else origin.kept_arrays(NEIGHBOURS, settings)
    if held is not None:
        try:
            return index_from_parts(samples.latents, held[0])
        except CutawayError as error:
            # A damaged file costs the time to build it anew, never a wrong answer.
            log.warning("The kept index of neighbours is built anew: %s", error)
    index = build_index(samples.latents, seed=SEED, progress=progress)
    if origin is not None and not index.exact:
        origin.keep_arrays(NEIGHBOURS, settings, index.parts(), recall=index.recall)
    return index
