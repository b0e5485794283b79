"""What a model sees, which samples to fix, and what is systematically wrong.

Everything is a function of arrays and tables; `Population` puts them together for a run or for arrays of your own.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutaway.analysis.applicability import Applies
    from cutaway.analysis.comparing import Comparison, Difference
    from cutaway.analysis.dynamics import Dynamics
    from cutaway.analysis.figures import Figure
    from cutaway.analysis.filters import Filter
    from cutaway.analysis.heat_maps.values import HeatMap, Sanity
    from cutaway.analysis.insights import Insight, Insights
    from cutaway.analysis.labelling import Estimate
    from cutaway.analysis.mapping import Map
    from cutaway.analysis.population import Population
    from cutaway.analysis.population_distances import Distances
    from cutaway.analysis.ranked import Ranked
    from cutaway.analysis.similar import Similar
    from cutaway.analysis.slice_tests import SliceTest, TestResult, parse_test, run_tests
    from cutaway.analysis.whole import Part, analyze

__all__ = [
    "Applies",
    "Comparison",
    "Difference",
    "Distances",
    "Dynamics",
    "Estimate",
    "Figure",
    "Filter",
    "HeatMap",
    "Insight",
    "Insights",
    "Map",
    "Part",
    "Population",
    "Ranked",
    "Sanity",
    "Similar",
    "SliceTest",
    "TestResult",
    "analyze",
    "parse_test",
    "run_tests",
]

# Imported when they are asked for: whoever needs one analysis, such as a worker of the studio, does not wait for all.
_MODULES = {
    "Applies": "applicability",
    "Comparison": "comparing",
    "Difference": "comparing",
    "Distances": "population_distances",
    "Dynamics": "dynamics",
    "Estimate": "labelling",
    "Figure": "figures",
    "Filter": "filters",
    "HeatMap": "heat_maps.values",
    "Insight": "insights",
    "Insights": "insights",
    "Map": "mapping",
    "Part": "whole",
    "Population": "population",
    "Ranked": "ranked",
    "Sanity": "heat_maps.values",
    "Similar": "similar",
    "SliceTest": "slice_tests",
    "TestResult": "slice_tests",
    "analyze": "whole",
    "parse_test": "slice_tests",
    "run_tests": "slice_tests",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        found: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
