"""The user's own file and line, which stands first in many messages, taken apart from what happened there."""

from __future__ import annotations

import re

__all__ = ["split_place"]

_PLACE = re.compile(r"^(?P<place>[^\n]*?\.py:\d+): (?P<rest>.+)$", re.DOTALL)


def split_place(message: str) -> tuple[str, str]:
    """Return the place and the rest of a message; an empty place where it begins with none.

    >>> split_place("bind.py:7: preprocess failed.")
    ('bind.py:7', 'preprocess failed')
    """
    found = _PLACE.match(message)
    place, rest = (found["place"], found["rest"]) if found else ("", message)
    return place, rest.rstrip(".")
