"""Shows what a visualizer returned to whoever writes one: in a notebook, or as a file to open."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import overload

from cutaway.dataset.placeholders import Placeholder
from cutaway.dataset.rendering.html import render_html
from cutaway.dataset.rendering.png import render_png
from cutaway.dataset.visualizer_classes import LeapObject
from cutaway.errors import ConfigurationError

__all__ = ["Shown", "visualize"]


@dataclass(frozen=True)
class Shown:
    """A picture that a notebook shows by itself; `png` has its bytes."""

    png: bytes

    def __repr__(self) -> str:
        return f"<a picture of {len(self.png):,} bytes; `visualize(value, path='sample.png')` writes it to a file>"

    def _repr_png_(self) -> bytes:
        return self.png


@overload
def visualize(leap_object: LeapObject, path: None = None) -> Shown: ...


@overload
def visualize(leap_object: LeapObject, path: str | Path) -> Path: ...


def visualize(leap_object: LeapObject, path: str | Path | None = None) -> Shown | Path:
    """Show what a visualizer returned: without a path for a notebook, with one as that `.png` or `.html` file.

    >>> import numpy as np
    >>> from cutaway.dataset.visualizer_classes import LeapImage
    >>> visualize(LeapImage(np.zeros((8, 8, 1), np.uint8))).png[1:4]
    b'PNG'
    """
    if isinstance(leap_object, Placeholder):
        # An integration test that is only read for what goes where has nothing to show.
        return Shown(b"")
    if path is None:
        return Shown(render_png(leap_object))
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (".png", ".html"):
        raise ConfigurationError(f"`path` must end in .png or .html, but got {str(path)!r}.", path=path)
    if suffix == ".png":
        target.write_bytes(render_png(leap_object))
    else:
        target.write_text(render_html(leap_object), encoding="utf-8")
    return target
