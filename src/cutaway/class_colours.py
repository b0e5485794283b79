"""The colours of classes: the same on the page, in figures, reports and pictures, and on light and dark grounds.

Ten, found by `python -m scripts.search_class_colours --seed 1`; what they keep is tested in
tests/unit/test_class_colours.py.
The page has them in ui/src/lib/class_colours.ts. Classes 11 to 20 have the same ten with a second mark, a triangle
where the first is a disc. Beyond that both come again, and names tell classes apart.
"""

from __future__ import annotations

__all__ = ["CLASS_COLOURS", "MARKED_CLASSES", "class_colour", "is_triangle"]

CLASS_COLOURS = (
    *("#0055fa", "#fd5914", "#b53658", "#5e9db9", "#ff38a0"),
    *("#0e8278", "#748dff", "#ae4402", "#55a65c", "#b122a4"),
)
# So many classes have a mark of their own.
MARKED_CLASSES = 2 * len(CLASS_COLOURS)


def class_colour(place: int) -> str:
    """Return the colour of the class at a place in the order of the classes, from 0 on."""
    return CLASS_COLOURS[place % len(CLASS_COLOURS)]


def is_triangle(place: int) -> bool:
    """Return whether the second mark is that of the class at a place.

    >>> [is_triangle(place) for place in (9, 10, 19, 20)]
    [False, True, True, False]
    """
    return place // len(CLASS_COLOURS) % 2 == 1
