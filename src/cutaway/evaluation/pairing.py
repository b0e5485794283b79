"""Pairs two lists of named things by name, by being the only one, or by what fits. Knows nothing of models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["pair", "pair_by_name", "the_only_way"]

Fits = Callable[[str, str], bool]


def pair_by_name(left: Sequence[str], right: Sequence[str]) -> dict[str, str]:
    """Return what has equal names; upper and lower case are the same where that leaves no doubt.

    >>> pair_by_name(["a", "B", "c"], ["b", "a"])
    {'a': 'a', 'B': 'b'}
    """
    found = {name: name for name in left if name in right}
    taken = set(found.values())
    lowered: dict[str, list[str]] = {}
    for name in right:
        if name not in taken:
            lowered.setdefault(name.lower(), []).append(name)
    for name in left:
        near = lowered.get(name.lower(), [])
        if name not in found and len(near) == 1 and near[0] not in found.values():
            found[name] = near[0]
    return found


def pair(left: Sequence[str], right: Sequence[str], fits: Fits) -> tuple[dict[str, str], dict[str, str]]:
    """Pair what can be paired without a doubt; return the pairs, and for each of them in words how it was found."""
    pairs = pair_by_name(left, right)
    how = dict.fromkeys(pairs, "by its name")
    open_left = [name for name in left if name not in pairs]
    open_right = [name for name in right if name not in pairs.values()]
    if len(left) == len(right) == 1 and open_left:
        return {left[0]: right[0]}, {left[0]: "the only one"}
    if len(open_left) == len(open_right) == 1:
        return {**pairs, open_left[0]: open_right[0]}, {**how, open_left[0]: "the only one left"}
    found = the_only_way(open_left, open_right, fits)
    if found is not None:
        in_order = list(found.values()) == list(open_right)
        words = "by their order, which their shapes allow alone" if in_order else "by their shapes"
        return {**pairs, **found}, {**how, **dict.fromkeys(found, words)}
    return pairs, how


def the_only_way(left: Sequence[str], right: Sequence[str], fits: Fits) -> dict[str, str] | None:
    """Return the one way to give each on the left something on the right that fits; None where none or several do.

    >>> the_only_way(["a", "b"], ["x", "y"], lambda one, other: (one, other) != ("a", "x"))
    {'a': 'y', 'b': 'x'}
    """
    if not left or len(left) > len(right):
        return None
    ways: list[dict[str, str]] = []
    _search(left, right, fits, {}, ways)
    return ways[0] if len(ways) == 1 else None


def _search(
    left: Sequence[str], right: Sequence[str], fits: Fits, so_far: dict[str, str], ways: list[dict[str, str]]
) -> None:
    if len(so_far) == len(left):
        ways.append(dict(so_far))
        return
    one = left[len(so_far)]
    for other in right:
        if other not in so_far.values() and fits(one, other):
            _search(left, right, fits, {**so_far, one: other}, ways)
            if len(ways) > 1:
                return
