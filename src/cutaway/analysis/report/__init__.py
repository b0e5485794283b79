"""One static page of what is known about a run, with pictures, that can be mailed. Values in, HTML out."""

from cutaway.analysis.report.page import MOST_BYTES, Made, make_report
from cutaway.analysis.report.pictures import checked_picture, small_figure
from cutaway.analysis.report.scores import scores_of
from cutaway.analysis.report.values import Drawn, Fix, Head, ReportContent, ReportSeries, ReportTest, Score

__all__ = [
    "MOST_BYTES",
    "Drawn",
    "Fix",
    "Head",
    "Made",
    "ReportContent",
    "ReportSeries",
    "ReportTest",
    "Score",
    "checked_picture",
    "make_report",
    "scores_of",
    "small_figure",
]
