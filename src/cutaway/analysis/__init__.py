"""What a model sees, which samples to fix, and what is systematically wrong.

Everything is a function of arrays and tables; `Population` puts them together for a run or for arrays of your own.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutaway.analysis.classes.distances import Distances
    from cutaway.analysis.comparing import Comparison, Difference
    from cutaway.analysis.figures import Figure
    from cutaway.analysis.filters import Filter
    from cutaway.analysis.heat_maps.values import HeatMap, Sanity
    from cutaway.analysis.insights import Insight, Insights
    from cutaway.analysis.labelling import Estimate
    from cutaway.analysis.mapping import Map
    from cutaway.analysis.neighbours.similar import Similar
    from cutaway.analysis.population.applicability import Applies
    from cutaway.analysis.population.contract import Analysis, InReport, RankedAnalysis
    from cutaway.analysis.population.options import option
    from cutaway.analysis.population.population import Population
    from cutaway.analysis.population.result import AnalysisResult
    from cutaway.analysis.population.whole import analyze
    from cutaway.analysis.samples.dynamics import Dynamics
    from cutaway.analysis.samples.ranked import Ranked
    from cutaway.analysis.slice_tests import SliceTest, TestResult, parse_test, run_tests

__all__ = [
    "Analysis",
    "AnalysisResult",
    "Applies",
    "Comparison",
    "Difference",
    "Distances",
    "Dynamics",
    "Estimate",
    "Figure",
    "Filter",
    "HeatMap",
    "InReport",
    "Insight",
    "Insights",
    "Map",
    "Population",
    "Ranked",
    "RankedAnalysis",
    "Sanity",
    "Similar",
    "SliceTest",
    "TestResult",
    "analyze",
    "option",
    "parse_test",
    "run_tests",
]

# Imported when they are asked for: whoever needs one analysis, such as a worker of the studio, does not wait for all.
_MODULES = {
    "Analysis": "population.contract",
    "Applies": "population.applicability",
    "Comparison": "comparing",
    "Difference": "comparing",
    "Distances": "classes.distances",
    "Dynamics": "samples.dynamics",
    "Estimate": "labelling",
    "Figure": "figures",
    "Filter": "filters",
    "HeatMap": "heat_maps.values",
    "InReport": "population.contract",
    "Insight": "insights",
    "Insights": "insights",
    "Map": "mapping",
    "AnalysisResult": "population.result",
    "Population": "population.population",
    "Ranked": "samples.ranked",
    "RankedAnalysis": "population.contract",
    "Sanity": "heat_maps.values",
    "Similar": "neighbours.similar",
    "SliceTest": "slice_tests",
    "TestResult": "slice_tests",
    "analyze": "population.whole",
    "option": "population.options",
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
