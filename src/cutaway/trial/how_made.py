"""What else than its settings a run was made with: corrections of labels, data, versions of code.

Two runs with the same settings that differ in any of these are not the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cutaway.run.evaluations import evaluations
from cutaway.run.identity import Run
from cutaway.run.overlay_use import overlay_of

__all__ = ["data_and_corrections", "differ", "versions_of"]

_DIGEST = 16
_VERSIONS = ("framework", "git", "seed", "parent")


def data_and_corrections(run: Run) -> dict[str, Any]:
    """Return the overlay that the training read, and what identifies the data of the last finished evaluation.

    Of data only what was evaluated is known; names of files are left out, which may be others on another machine.
    """
    return {name: told for name, told in (("overlay", _overlay(run)), ("data", _data(run))) if told}


def versions_of(run: Run) -> dict[str, Any]:
    """Return the versions of packages, the commit, and what else says by which code a run was made."""
    versions = run.identity.get("versions")
    about = {key: run.identity[key] for key in _VERSIONS if run.identity.get(key) is not None}
    return {"versions": versions if isinstance(versions, Mapping) else {}, **about}


def differ(key: str, values: Sequence[Any]) -> bool:
    """Whether a value is not the same in all runs; None where a run has none.

    >>> differ("config.lr", [0.1, None]), differ("data.digest", ["2b16", None])
    (True, False)
    """
    # Of data only what was evaluated is known: a run without an evaluation may have had the same.
    compared = [value for value in values if value is not None or not key.startswith("data.")]
    return any(value != compared[0] for value in compared)


def _overlay(run: Run) -> dict[str, Any]:
    told = overlay_of(run)
    if told is None:
        return {}
    return {"name": told["name"], "digest": told["digest"][:_DIGEST], "corrections": told["corrections"]}


def _data(run: Run) -> dict[str, Any]:
    last = next((one for one in reversed(evaluations(run)) if one.finished), None)
    if last is None:
        return {}
    binding = last.source.binding
    counts = {name: one.samples for name, one in last.source.subsets.items() if one.samples is not None}
    told = {"digest": (binding.digest or "")[:_DIGEST], "overlay": (binding.overlay or "")[:_DIGEST]}
    return {**{key: value for key, value in told.items() if value}, "samples": counts}
