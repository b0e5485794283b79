"""How one label stands for a class: its number, its name, or a row with a score for each class. Both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["class_of", "label_with"]


def class_of(label: Any, classes: Sequence[str]) -> str | None:
    """Return the class that a label means; None where it means none of them.

    A row of as many numbers as there are classes means its largest, if that is the only one.

    >>> class_of(1, ["cat", "dog"]), class_of("dog", ["cat", "dog"]), class_of([0.1, 0.9], ["cat", "dog"])
    ('dog', 'dog', 'dog')
    >>> class_of(7, ["cat", "dog"]), class_of([0.5, 0.5], ["cat", "dog"])
    (None, None)
    """
    held = _label_as_python(label)
    if isinstance(held, list):
        if len(held) != len(classes) or not all(isinstance(one, bool | int | float) for one in held):
            return None
        best = max(range(len(held)), key=lambda place: held[place])
        return classes[best] if sum(one == held[best] for one in held) == 1 else None
    if isinstance(held, bytes):
        held = held.decode(errors="replace")
    if isinstance(held, str):
        return held if held in classes else None
    if isinstance(held, bool | int | float) and held == held // 1 and 0 <= held < len(classes):
        return classes[int(held)]
    return None


def label_with(label: Any, old: str, new: str, classes: Sequence[str]) -> Any:
    """Return a plain label that means `new` where the given one means `old`, written in the same way.

    In a row the two classes change places, so that smoothed labels stay as smooth as they were.

    >>> label_with(0, "cat", "dog", ["cat", "dog"]), label_with([0.9, 0.1], "cat", "dog", ["cat", "dog"])
    (1, [0.1, 0.9])
    """
    held = _label_as_python(label)
    if isinstance(held, bytes):
        return new.encode()
    if isinstance(held, str):
        return new
    place = classes.index(new)
    if isinstance(held, list):
        before = classes.index(old)
        held[before], held[place] = held[place], held[before]
        return held
    return type(held)(place)


def _label_as_python(label: Any) -> Any:
    """Return a label of numpy, torch or plain Python as a plain value, or a row of them as a new list."""
    held = label.tolist() if hasattr(label, "tolist") else list(label) if isinstance(label, list | tuple) else label
    while isinstance(held, list) and len(held) == 1:
        held = held[0]
    return held
