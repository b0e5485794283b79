"""Heat maps: where a model looked. Functions over what every `Model` answers, the same for every format."""

from cutaway.analysis.heat_maps.making import (
    estimate_memory,
    heat_map,
    heat_maps_per_class,
    heat_maps_per_layer,
    layers_with_places,
)
from cutaway.analysis.heat_maps.memory import MemoryEstimate
from cutaway.analysis.heat_maps.methods import METHODS, Method
from cutaway.analysis.heat_maps.values import HeatMap, Sanity

__all__ = [
    "METHODS",
    "HeatMap",
    "MemoryEstimate",
    "Method",
    "Sanity",
    "estimate_memory",
    "heat_map",
    "heat_maps_per_class",
    "heat_maps_per_layer",
    "layers_with_places",
]
