"""The colours of figures, for a light and a dark ground. Names no data.

Classes have the same colours on both, see `cutaway.class_colours`. Scales run from what lies near the ground to what
stands out, so that large values are seen.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DARK", "LIGHT", "NO_VALUE", "OTHER", "Theme", "shades"]

# Among codes of one byte: the classes that have no colour of their own, and samples that have no value.
OTHER, NO_VALUE = 254, 255


@dataclass(frozen=True)
class Theme:
    """Colours that belong together; `blue` and `orange` mark two things that are compared."""

    ground: str
    ink: str
    muted: str
    line: str
    blue: str
    orange: str
    other: str
    none: str
    ramp: tuple[str, ...]


LIGHT = Theme(
    ground="#ffffff",
    ink="#1b1f24",
    muted="#545b64",
    line="#d5d9de",
    blue="#2f7fd0",
    orange="#d9731a",
    other="#858c95",
    none="#b4b9bf",
    ramp=("#8fd744", "#35b779", "#21918c", "#31688e", "#443983", "#440154"),
)
DARK = Theme(
    ground="#14171c",
    ink="#eceff2",
    muted="#a9b1bb",
    line="#343a42",
    blue="#4f9be8",
    orange="#e88a3a",
    other="#7d8590",
    none="#565d66",
    ramp=("#3f4a8a", "#2e6d8e", "#21918c", "#35b779", "#8fd744", "#fde725"),
)


def shades(stops: tuple[str, ...], count: int) -> list[str]:
    """Return `count` colours that run evenly through the stops.

    >>> shades(("#000000", "#ffffff"), 3)
    ['#000000', '#808080', '#ffffff']
    """
    points = [[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in stops]
    found = []
    for step in range(count):
        place = step / max(count - 1, 1) * (len(points) - 1)
        before = min(int(place), len(points) - 2)
        share = place - before
        mixed = (a + (b - a) * share for a, b in zip(points[before], points[before + 1], strict=True))
        found.append("#" + "".join(f"{int(one + 0.5):02x}" for one in mixed))
    return found
