"""Automatic insights: what is systematically wrong, ranked, in plain words with figures and what to do about it."""

from cutaway.analysis.insights.finding import SUMMARISED, find_insights
from cutaway.analysis.insights.records import insight_findings, insight_table
from cutaway.analysis.insights.values import INFORMS, KINDS, Insight, Insights

__all__ = [
    "INFORMS",
    "KINDS",
    "SUMMARISED",
    "Insight",
    "Insights",
    "find_insights",
    "insight_findings",
    "insight_table",
]
