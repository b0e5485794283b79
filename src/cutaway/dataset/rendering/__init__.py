"""Shows what visualizers return: as a picture, as a page for a person, as data for a page that draws it itself."""

from cutaway.dataset.rendering.html import render_html
from cutaway.dataset.rendering.png import preview_png, render_png
from cutaway.dataset.rendering.showing import visualize
from cutaway.dataset.rendering.typed import typed_data

__all__ = ["preview_png", "render_html", "render_png", "typed_data", "visualize"]
