"""What a model sees, which samples to fix, and what is systematically wrong.

Everything is a function of arrays and tables; `Population` puts them together for a run or for arrays of your own.
"""

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
