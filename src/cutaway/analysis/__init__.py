"""What a model sees: a map of the population, similar samples, clusters, units, curves, heat maps.

Everything is a function of arrays and tables; `Population` puts them together for a run or for arrays of your own.
"""

from cutaway.analysis.applicability import Applies
from cutaway.analysis.figures import Figure
from cutaway.analysis.filters import Filter
from cutaway.analysis.heat_maps.values import HeatMap, Sanity
from cutaway.analysis.mapping import Map
from cutaway.analysis.population import Population
from cutaway.analysis.population_distances import Distances
from cutaway.analysis.similar import Similar
from cutaway.analysis.whole import Part, analyze

__all__ = [
    "Applies",
    "Distances",
    "Figure",
    "Filter",
    "HeatMap",
    "Map",
    "Part",
    "Population",
    "Sanity",
    "Similar",
    "analyze",
]
