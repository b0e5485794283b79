"""Figures: PNG, interactive pages of one file each, and what a notebook shows. They draw what others computed."""

from cutaway.analysis.figures.confusion import confusion_figure
from cutaway.analysis.figures.curves import batches_figure, curve_figure
from cutaway.analysis.figures.distances import distances_figure
from cutaway.analysis.figures.figure import Content, Figure
from cutaway.analysis.figures.grids import heat_map_figure, ranked_figure, similar_figure, units_figure
from cutaway.analysis.figures.map import map_figure
from cutaway.analysis.figures.tiles import Tile

__all__ = [
    "Content",
    "Figure",
    "Tile",
    "batches_figure",
    "confusion_figure",
    "curve_figure",
    "distances_figure",
    "heat_map_figure",
    "map_figure",
    "ranked_figure",
    "similar_figure",
    "units_figure",
]
