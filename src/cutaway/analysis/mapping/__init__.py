"""The map of a population: samples in the plane, near where the model sees them alike.

`make_map` makes one and aligns it to an earlier one, `place` puts new samples on one, `trustworthiness` measures one.
"""

from __future__ import annotations

from cutaway.analysis.mapping.making import make_map
from cutaway.analysis.mapping.placing import place
from cutaway.analysis.mapping.trust import trustworthiness
from cutaway.analysis.mapping.values import Map, PreviousMap

__all__ = ["Map", "PreviousMap", "make_map", "place", "trustworthiness"]
